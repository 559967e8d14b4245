import type { KubeadmAuthority } from '../certificates/authorities.value.ts';
import { authorityPublished } from '../certificates/cluster-info.step.ts';
import { type Due, nearItsEnd } from '../certificates/expiry.ts';
import { kubeletCertificateOfControlPlane, kubeletCertificateOfWorker } from '../certificates/kubelet-client.step.ts';
import type { KeepControlPlane } from '../certificates/place-authority.step.ts';
import { authorityRenewed, type Renewals, renewedCas } from '../certificates/renew-ca.step.ts';
import { controlPlaneCertificates } from '../certificates/renew.step.ts';
import { waitForApi } from '../engine/combinators.ts';
import type { Phase, Step } from '../engine/step.ts';
import { renewedEtcdCertificates } from '../etcd/certificates.step.ts';
import { renewedEtcdClientCertificate } from '../etcd/client-certificate.step.ts';
import { controlPlanes, etcdHosts, linuxWorkers } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { verifyPhases } from './verify.phases.ts';

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

/** What `kbuild certs renew` does, in order: one host at a time, and it is proved before the next. */
export function renewCertificatesPhases(inventory: Inventory, due: Due): readonly Phase[] {
  const etcd = etcdHosts(inventory);
  const phases: readonly Phase[] = [
    {
      name: 'etcd-certificates',
      title: 'Renew the certificates of etcd',
      kind: 'linux',
      hosts: etcd,
      steps: [renewedEtcdCertificates(due)],
      concurrency: 1,
    },
    {
      name: 'control-plane-certificates',
      title: 'Renew the certificates of the control planes',
      kind: 'linux',
      hosts: controlPlanes(inventory),
      steps: [renewedEtcdClientCertificate(due), controlPlaneCertificates(due)],
      concurrency: 1,
    },
  ];
  return phases.filter(({ hosts }) => hosts.length > 0);
}

/** Control planes whose kubelets have no valid certificate: all at once, because an etcd without quorum serves none of them. */
export const kubeletCertificatesPhase = (inventory: Inventory): Phase => ({
  name: 'kubelet-certificates',
  title: 'Renew the certificates of kubelets',
  kind: 'linux',
  hosts: controlPlanes(inventory),
  steps: [kubeletCertificateOfControlPlane],
  overlaps: true,
});

/** An API that was away for want of valid certificates answers again. */
const apiAnswers: Step<'cluster'> = {
  name: 'api-answers',
  settleMs: 5 * 60_000,
  diff: ({ facts }) => (facts.state === 'down' ? [waitForApi(facts)] : []),
};

/**
 * What `kbuild certs recover` does, in order: kubelets of control planes, so that their pods run; certificates of etcd and of the control
 * planes; then the API answers, and the kubelets of workers ask it for theirs.
 */
export function recoverCertificatesPhases(inventory: Inventory): readonly Phase[] {
  const workers = linuxWorkers(inventory);
  const phases: readonly Phase[] = [
    { ...kubeletCertificatesPhase(inventory), name: 'kubelet-certificates' },
    ...renewCertificatesPhases(inventory, nearItsEnd),
    {
      name: 'api',
      title: 'Wait for the API',
      kind: 'cluster',
      hosts: controlPlanes(inventory),
      steps: [apiAnswers],
    },
    {
      name: 'worker-certificates',
      title: 'Renew the certificates of workers',
      kind: 'linux',
      hosts: workers,
      steps: [kubeletCertificateOfWorker],
    },
    ...verifyPhases(inventory),
  ];
  return phases.filter(({ hosts }) => hosts.length > 0);
}
