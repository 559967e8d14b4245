import type { Phase } from '../engine/step.ts';
import type { KubeadmAuthority } from '../topology/own-authorities.ts';
import type { KeepControlPlane } from '../kubeadm/authority/placed.ts';
import { authorityPublished } from '../kubeadm/authority/published.ts';
import { authorityRenewed, renewedCas, type Renewals } from '../kubeadm/authority/renewed.ts';
import type { Inventory } from '../model/inventory.ts';
import { controlPlanes, linuxWorkers } from '../topology/select.ts';
import { verifyPhases } from './verify.ts';

/** What the phases call an authority. */
const TITLES: Readonly<Record<KubeadmAuthority, string>> = {
  ca: "the cluster's CA",
  'front-proxy-ca': "the front proxy's CA",
  'etcd-ca': "etcd's CA",
};

/**
 * What `kbuild certs renew-ca` does, in order: for each authority, one control plane after another trusts its renewed certificate; that of
 * the cluster then goes to the workers, and the cluster tells it to its pods and to hosts that join. While the API is away, because an
 * authority has ended, only the hosts get theirs.
 */
export function renewAuthorityPhases(
  inventory: Inventory,
  renewals: Renewals,
  keep: KeepControlPlane,
  api: 'answers' | 'is away' = 'answers',
): readonly Phase[] {
  const controls = controlPlanes(inventory);
  const phases: readonly Phase[] = [...renewals.keys()].flatMap((name): readonly Phase[] => {
    const steps = [authorityRenewed(name, renewals, keep)];
    return [
      {
        name: `renew-${name}`,
        title: `Renew ${TITLES[name]}`,
        kind: 'linux',
        hosts: controls,
        steps,
        concurrency: 1,
      },
      ...(name === 'ca'
        ? ([
            {
              name: `renew-${name}-workers`,
              title: `Give workers ${TITLES[name]}`,
              kind: 'linux',
              hosts: linuxWorkers(inventory),
              steps,
            },
            {
              name: `renew-${name}-published`,
              title: `Publish ${TITLES[name]}`,
              kind: 'cluster',
              hosts: controls,
              steps: [authorityPublished(renewedCas(renewals))],
            },
          ] as const)
        : []),
    ];
  });
  const all =
    api === 'answers' ? [...phases, ...verifyPhases(inventory)] : phases.filter(({ kind }) => kind !== 'cluster');
  return all.filter(({ hosts }) => hosts.length > 0);
}
