import { stringify } from 'yaml';
import { inventory } from '../lab/lab.ts';
import type { BenchFleet } from './fleet.ts';

/** An inventory of these addresses, three of them control planes where there are enough. */
export async function benchInventory(
  fleet: Pick<BenchFleet, 'identityFile' | 'knownHostsFile' | 'port'>,
  addresses: readonly string[],
): Promise<string> {
  const { identityFile, knownHostsFile, port } = fleet;
  const controlPlanes = addresses.length >= 10 ? 3 : 1;
  const base = await inventory([]);
  return stringify(
    {
      ...base,
      name: 'bench',
      kubernetes: { ...(base['kubernetes'] as object), endpoint: 'k8s.bench:6443' },
      network: { plugin: 'flannel', podSubnet: '10.128.0.0/11' },
      // The addresses are this bench's invention.
      ignoreChecks: ['time-sync', 'disk-sync', 'address-on-host', 'routes-between-hosts'],
      ssh: { user: 'root', port, identityFile, knownHostsFile, configFile: 'none' },
      hosts: addresses.map((address, index) => ({
        name: `h${String(index)}`,
        address,
        internalAddress: address.replace(/^127\.0/, '10.20'),
        role: index < controlPlanes ? 'control-plane' : 'worker',
      })),
    },
    { aliasDuplicateObjects: false },
  );
}
