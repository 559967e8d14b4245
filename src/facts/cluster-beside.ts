import type { ClusterView } from './cluster.ts';
import type { Observed } from './fleet.ts';

/** The facts that decide where the cluster is observed, as text to compare; undefined if those of a host are unknown. */
function ways(hosts: readonly Observed[]): string | undefined {
  try {
    return hosts
      .flatMap((one) =>
        one.os === 'linux' && (one.host.role === 'control-plane' || one.host.role === 'etcd')
          ? [`${one.host.name}: ${[...one.facts.kubernetesTraces].sort().join(' ')}`]
          : [],
      )
      .join('\n');
  } catch {
    return undefined;
  }
}

/**
 * Observes the cluster at the same time as its hosts, through the control planes that were known before; again if the hosts'
 * new facts lead to others. Rejects as `hosts` does.
 */
export async function clusterBeside(
  cluster: (hosts: readonly Observed[]) => Promise<ClusterView>,
  known: readonly Observed[],
  hosts: Promise<readonly Observed[]>,
): Promise<ClusterView> {
  const before = ways(known);
  const early = before === undefined ? undefined : cluster(known);
  const seen = await hosts;
  return early !== undefined && before === ways(seen) ? early : cluster(seen);
}
