import { endpointHost } from '../topology/api-server.ts';
import { bypassesProxy } from '../topology/proxy.ts';
import { eachHost } from './each-host.ts';

const withoutLogin = (url: string): string => url.replace(/\/\/[^/@]*@/, '//…@');

export const proxyVariables = eachHost(
  {
    name: 'proxy-variables',
    title: 'the host has no outbound proxy of its own, or the inventory has one and its no_proxy names the cluster',
    why: "kubeadm, the runtime and the package manager run without the login shell's variables: a proxy that they need belongs into `proxy:` of the inventory, which also completes what must be reached directly. People who log in have the host's variables all the same: where `no_proxy` leaves out the cluster, their kubectl asks the proxy for it.",
    severities: ['warning'],
  },
  ({ inventory, facts: { proxyVariables } }) => {
    const found = ['http_proxy', 'https_proxy'].filter((name) => (proxyVariables.get(name) ?? '') !== '');
    if (found.length === 0) return [];
    const direct = (proxyVariables.get('no_proxy') ?? '').split(',').map((entry) => entry.trim());
    const needed = [endpointHost(inventory.endpoint), ...inventory.hosts.map(({ internalAddress }) => internalAddress)];
    const asked = [...new Set(needed)].filter((host) => !bypassesProxy(direct, host));
    return [
      ...(inventory.proxy !== undefined
        ? []
        : [
            {
              severity: 'warning' as const,
              message: `has ${found.map((name) => `${name}=${withoutLogin(proxyVariables.get(name)!)}`).join(', ')} of its own, and the inventory names no proxy`,
              remedy: 'if downloads need it, set proxy.http in the inventory',
            },
          ]),
      ...(asked.length === 0
        ? []
        : [
            {
              severity: 'warning' as const,
              message: `has a proxy of its own, and its no_proxy leaves out ${asked.join(', ')}`,
              remedy:
                'add them to no_proxy: kubectl and other programs of people on the host would ask the proxy for them',
            },
          ]),
    ];
  },
);
