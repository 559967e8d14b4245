import { apiServerVersions, apiVersionsText, isMixed, lowestApiServer } from '../cluster/api-versions.ts';
import type { ClusterUp } from '../facts/cluster.ts';
import { compareVersions, KUBELET_MINORS_BEHIND, minorNumber, minorOf, releaseOf } from '../versions.ts';
import type { Check, Finding } from './check.ts';

/** The API servers while an upgrade is under way: nothing is wrong with that, but packages wait for it. */
function mixed(cluster: ClusterUp): readonly Finding[] {
  if (!isMixed(cluster)) return [];
  return [
    {
      severity: 'warning',
      message: `the API servers run different versions (${apiVersionsText(cluster)}; kubeadm noted ${cluster.version}); packages stay at ${lowestApiServer(cluster)} until all of them are upgraded`,
      remedy: `finish the upgrade: \`kbuild upgrade\` with kubernetes.version ${cluster.version}`,
    },
  ];
}

/** Kubelets are neither newer nor much older than the API servers: a control plane's than its own, a worker's than any. */
export const versionSkew: Check = {
  name: 'version-skew',
  title:
    'all API servers run one version, no kubelet of the cluster is newer than theirs, or more than three minors older',
  why: 'Kubernetes promises nothing outside these limits. Bring the node to the version of the cluster. While an upgrade is under way, kbuild puts no newer kubelet onto any host than the oldest API server, and changes no setting that kubeadm would write in the new version.',
  severities: ['error', 'warning'],
  test: ({ fleet: { cluster } }) => {
    if (cluster.state !== 'up') return [];
    const servers = apiServerVersions(cluster);
    const lowest = lowestApiServer(cluster);
    const nodes = cluster.nodes.flatMap(({ name, kubeletVersion }) => {
      const kubelet = releaseOf(kubeletVersion);
      const own = servers.get(name) ?? lowest;
      const server = own === 'unknown' ? lowest : own;
      const older = minorNumber(server) - minorNumber(kubelet);
      const newer = compareVersions(minorOf(kubelet), minorOf(server)) > 0;
      if (!newer && older <= KUBELET_MINORS_BEHIND) return [];
      return [
        {
          severity: 'error' as const,
          host: name,
          message: `runs kubelet ${kubelet}, ${newer ? 'newer than' : `${String(older)} minors older than`} the API server ${server}`,
        },
      ];
    });
    return [...nodes, ...mixed(cluster)];
  },
};
