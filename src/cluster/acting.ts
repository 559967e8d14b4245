import { FactError, Refused } from '../errors.ts';
import type { ClusterUp } from '../facts/cluster.ts';
import { observedLinux, type Fleet } from '../facts/fleet.ts';
import type { LinuxHost } from '../inventory/inventory.ts';

/**
 * The cluster that answers. @throws Refused when there is none; FactError when there is one that does not answer.
 */
export function liveCluster({ cluster }: Fleet): ClusterUp {
  switch (cluster.state) {
    case 'up':
      return cluster;
    case 'absent':
      throw new Refused('cluster', 'there is no cluster yet', 'run `kbuild up` for its control plane first');
    case 'down':
      throw new FactError('cluster', 'its state', cluster.reason);
  }
}

/** The control plane that acts for the cluster: any whose API answered. Throws like `liveCluster`. */
export function acting(fleet: Fleet): LinuxHost {
  const { via } = liveCluster(fleet);
  const found = observedLinux(fleet).find(({ host }) => host.name === via);
  if (found === undefined) throw new Error(`the cluster was seen through ${via}, which was not observed`);
  return found.host;
}
