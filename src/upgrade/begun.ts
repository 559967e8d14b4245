import { apiServerVersions } from '../cluster/api-versions.ts';
import { begunUpgrades } from '../cluster/begun-upgrade.ts';
import type { Fleet } from '../facts/fleet.ts';
import type { Inventory } from '../model/inventory.ts';

/**
 * The versions to which an upgrade has begun: those that API servers run, that kubeadm has noted, and of its unfinished upgrades. Empty while the
 * cluster does not answer.
 */
export function begunVersions(inventory: Inventory, fleet: Fleet): readonly string[] {
  const { cluster } = fleet;
  if (cluster.state !== 'up') return [];
  const all = [
    cluster.version,
    ...apiServerVersions(cluster).values(),
    ...begunUpgrades(inventory, fleet).map(({ version }) => version),
  ];
  return [...new Set(all)].filter((version) => version !== 'unknown');
}
