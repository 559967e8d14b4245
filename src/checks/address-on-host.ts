import { eachHost } from './each-host.ts';

export const addressOnHost = eachHost(
  {
    name: 'address-on-host',
    title: 'the internalAddress is an address of the host',
    why: 'The API server, etcd and the kubelet bind or announce it. A public address of a cloud is often translated and not on the machine: then set `internalAddress` to the private one.',
    severities: ['error'],
  },
  ({ host, facts }) => {
    const all = facts.interfaces.flatMap(({ addresses }) => addresses);
    if (all.includes(host.internalAddress)) return [];
    const usable = all.filter((address) => !/^(?:127[.]|::1$|fe80:|169[.]254[.])/.test(address));
    return [
      {
        severity: 'error',
        message: `${host.internalAddress} is not an address of the host`,
        remedy: `set internalAddress to one that is: ${usable.join(', ')}`,
      },
    ];
  },
);
