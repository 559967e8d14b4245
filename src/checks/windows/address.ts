import { eachWindowsHost } from '../each-host.ts';

export const windowsAddress = eachWindowsHost(
  {
    name: 'windows-address',
    title: 'a Windows host has its internalAddress on the adapter of its one default route',
    why: 'The kubelet, the network plugin and HNS bind to this address and its adapter. HNS moves the address to a virtual adapter (`vEthernet`), which is fine; an address that DHCP may change is not.',
    severities: ['error', 'warning'],
  },
  ({ host, facts }) => {
    const { addresses, defaultRoutes } = facts.network;
    const own = addresses.find(({ address }) => address === host.internalAddress);
    if (own === undefined)
      return [
        {
          severity: 'error',
          message: `has no address ${host.internalAddress} (found ${addresses.map(({ address }) => address).join(', ') || 'none'})`,
          remedy: 'set internalAddress to one that it has',
        },
      ];
    const routes = new Set(defaultRoutes.map(({ index }) => index));
    return [
      ...(routes.size === 0
        ? [{ severity: 'error' as const, message: 'has no default route: the network plugin finds no adapter' }]
        : []),
      ...(routes.size > 1
        ? [
            {
              severity: 'warning' as const,
              message: 'has default routes on several adapters: the network plugin may take the wrong one',
            },
          ]
        : []),
      ...(own.origin === 'Dhcp'
        ? [
            {
              severity: 'warning' as const,
              message: `has ${host.internalAddress} from DHCP; a node's address must not change`,
              remedy: 'reserve it, or set it by hand',
            },
          ]
        : []),
    ];
  },
);
