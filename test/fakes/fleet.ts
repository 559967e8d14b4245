import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { ConnectError } from '../../src/errors.ts';
import { linuxHosts, windowsHosts } from '../../src/inventory/hosts.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { type FactOverrides, facts, type Fixture, type RawAnswers } from './facts.ts';
import { inventory as anInventory } from './inventory.ts';
import { type MachineChange, windowsFacts } from './windows.ts';

/** What a test says about a fleet; the rest is fresh hosts without a cluster. */
export interface FleetOverrides {
  readonly inventory?: Inventory;
  /** By host. */
  readonly facts?: Readonly<Record<string, FactOverrides>>;
  /** Names of hosts that could not be reached. */
  readonly unreachable?: readonly string[];
  readonly cluster?: ClusterView;
  /** What probes print, by host. */
  readonly printed?: Readonly<Record<string, RawAnswers>>;
  /** What the hosts are otherwise; default: debian-12-fresh. */
  readonly fixture?: Fixture;
  /** What the Windows hosts of the inventory are; default: fresh. */
  readonly windows?: MachineChange | undefined;
}

/** All hosts of an inventory as seen: fresh unless a test says otherwise. */
export function fleet({
  inventory = anInventory(),
  facts: overrides = {},
  unreachable = [],
  cluster = { state: 'absent' },
  printed = {},
  fixture,
  windows,
}: FleetOverrides = {}): Fleet {
  const all = linuxHosts(inventory);
  return {
    hosts: [
      ...all
        .filter(({ name }) => !unreachable.includes(name))
        .map((host) => ({
          os: 'linux' as const,
          host,
          facts: facts(inventory, host, overrides[host.name], { fixture, printed: printed[host.name] }),
        })),
      ...windowsHosts(inventory).map((host) => ({
        os: 'windows' as const,
        host,
        facts: windowsFacts(inventory, host, windows),
      })),
    ],
    unreachable: all
      .filter(({ name }) => unreachable.includes(name))
      .map((host) => ({ host, error: new ConnectError(host.name, 'no answer', { retryable: true }) })),
    cluster,
  };
}
