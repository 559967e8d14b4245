import type { ClusterView } from './cluster.ts';
import type { Observed } from './fleet.ts';

/** What tells where the cluster can be asked for, as text; undefined when that is not known of a host. */
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
 * The cluster, asked for beside its hosts with what was known of them before; once more where they turn out to tell another
 * way to it. Rejects as `hosts` does.
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
