import { compareVersions, minorOf } from '../versions.ts';
import type { Check } from './check.ts';

/** Kubernetes, "Version Skew Policy": a kubelet may be that many minors older than the API server. */
const ALLOWED = 3;

const minorNumber = (version: string): number => Number(minorOf(version).split('.')[1]);

/** Kubelets are neither newer nor much older than the API server. */
export const versionSkew: Check = {
  name: 'version-skew',
  title: 'no kubelet of the cluster is newer than the API server, or more than three minors older',
  why: 'Kubernetes promises nothing outside these limits. Bring the node to the version of the cluster.',
  severities: ['error'],
  test: ({ fleet: { cluster } }) => {
    if (cluster.state !== 'up') return [];
    return cluster.nodes.flatMap(({ name, kubeletVersion }) => {
      const kubelet = kubeletVersion.replace(/^v/, '').replace(/[-+].*$/, '');
      const older = minorNumber(cluster.version) - minorNumber(kubelet);
      const newer = compareVersions(minorOf(kubelet), minorOf(cluster.version)) > 0;
      if (!newer && older <= ALLOWED) return [];
      return [
        {
          severity: 'error' as const,
          host: name,
          message: `runs kubelet ${kubelet}, ${newer ? 'newer than' : `${String(older)} minors older than`} the API server ${cluster.version}`,
        },
      ];
    });
  },
};
