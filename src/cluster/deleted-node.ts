import type { PodView } from '../facts/cluster.ts';
import type { Seen } from './seen.ts';
import { standing } from './standing.ts';

/**
 * True for a host that has joined and whose node is not there: it was deleted. False while no API answers. Throws `FactError` when
 * a fact that it needs is not known.
 */
export function isNodeGone(seen: Seen): boolean {
  const { host, fleet } = seen;
  const { cluster } = fleet;
  if (cluster.state !== 'up' || cluster.nodes.some(({ name }) => name === host.name)) return false;
  return standing(seen) === 'joined';
}

/** The pods of the system namespaces that the cluster counts to the host. */
export const clusterPods = ({ host, fleet: { cluster } }: Seen): readonly PodView[] =>
  cluster.state === 'up' ? cluster.pods.filter(({ node }) => node === host.name) : [];
