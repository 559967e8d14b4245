import type { PodView } from '../facts/cluster.ts';
import type { Seen } from './seen.ts';
import { standing } from './standing.ts';

/**
 * True for a joined host whose Node object was deleted. False while no API answers. Throws `FactError` when a fact that
 * it needs is unknown.
 */
export function isNodeGone(seen: Seen): boolean {
  const { host, fleet } = seen;
  const { cluster } = fleet;
  if (cluster.state !== 'up' || cluster.nodes.some(({ name }) => name === host.name)) return false;
  return standing(seen) === 'joined';
}

/** The pods of the system namespaces that are bound to the host's node. */
export const clusterPods = ({ host, fleet: { cluster } }: Seen): readonly PodView[] =>
  cluster.state === 'up' ? cluster.pods.filter(({ node }) => node === host.name) : [];
