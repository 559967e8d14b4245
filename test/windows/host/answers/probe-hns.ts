import type { Answer } from '../script.ts';

export const answer: Answer = (machine) => ({
  networks: machine.networks.map(({ id, name, type, subnet }) => ({
    id,
    name,
    type,
    subnet: typeof subnet === 'string' ? subnet : '',
    managementAddress: machine.addresses[0] ?? '',
  })),
  endpoints: machine.endpoints.map((endpoint) => ({
    id: endpoint.id,
    name: endpoint.name,
    network: typeof endpoint['network'] === 'string' ? endpoint['network'] : '',
    address: typeof endpoint['address'] === 'string' ? endpoint['address'] : '',
  })),
});
