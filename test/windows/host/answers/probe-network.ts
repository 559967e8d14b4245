import type { Answer } from '../script.ts';

/** One adapter; HNS puts the addresses on a virtual one of its own. */
export const answer: Answer = (machine) => ({
  adapters: [
    {
      index: 4,
      name: 'Ethernet',
      description: 'Red Hat VirtIO Ethernet Adapter',
      mac: '52-54-00-12-34-56',
      status: 'Up',
    },
    ...(machine.networks.length === 0
      ? []
      : [
          {
            index: 9,
            name: 'vEthernet (Ethernet)',
            description: 'Hyper-V Virtual Ethernet Adapter',
            mac: '52-54-00-12-34-56',
            status: 'Up',
          },
        ]),
  ],
  addresses: machine.addresses.map((address) => ({
    index: machine.networks.length === 0 ? 4 : 9,
    name: machine.networks.length === 0 ? 'Ethernet' : 'vEthernet (Ethernet)',
    address,
    bits: 24,
    origin: machine.extra.get('origin') ?? 'Manual',
  })),
  defaultRoutes: [{ index: machine.networks.length === 0 ? 4 : 9, gateway: '10.77.0.1' }],
  metadataRoute: machine.routes.has('169.254.169.254/32'),
  networks: [{ index: 4, category: (machine.extra.get('networkCategory') as string | undefined) ?? 'Private' }],
});
