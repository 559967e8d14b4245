import type { KubeadmAuthority } from '../certificates/authorities.value.ts';
import { authorityPublished } from '../certificates/cluster-info.step.ts';
import { type Due, nearItsEnd } from '../certificates/expiry.ts';
import { kubeletCertificateOfControlPlane, kubeletCertificateOfWorker } from '../certificates/kubelet-client.step.ts';
import type { KeepControlPlane } from '../certificates/place-authority.step.ts';
import { authorityRenewed, type Renewals, renewedCas } from '../certificates/renew-ca.step.ts';
import { controlPlaneCertificates } from '../certificates/renew.step.ts';
import { waitForApi } from '../engine/combinators.ts';
import { cluster, ifAny, IN_TURN, linux, OVERLAPS } from '../engine/phases.ts';
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
 * What `kbuild certs renew-ca` does, in order: for each authority, one control plane after another trusts its renewed
 * certificate; that of the cluster then goes to the workers, and the cluster tells it to its pods and to hosts that
 * join. While the API is away, because an authority has ended, only the hosts get theirs.
 */
export function renewAuthorityPhases(
  inventory: Inventory,
  renewals: Renewals,
  keep: KeepControlPlane,
  api: 'answers' | 'is away' = 'answers',
): readonly Phase[] {
  const controls = controlPlanes(inventory);
  const phases = [...renewals.keys()].flatMap((name): readonly Phase[] => {
    const steps = [authorityRenewed(name, renewals, keep)];
    const publish = [authorityPublished(renewedCas(renewals))];
    return [
      linux(`renew-${name}`, `Renew ${TITLES[name]}`, controls, steps, IN_TURN),
      ...(name === 'ca'
        ? [
            linux(`renew-${name}-workers`, `Give workers ${TITLES[name]}`, linuxWorkers(inventory), steps),
            cluster(`renew-${name}-published`, `Publish ${TITLES[name]}`, controls, publish),
          ]
        : []),
    ];
  });
  const all =
    api === 'answers' ? [...phases, ...verifyPhases(inventory)] : phases.filter(({ kind }) => kind !== 'cluster');
  return ifAny(...all);
}

/** What `kbuild certs renew` does, in order: one host at a time, and it is proved before the next. */
export const renewCertificatesPhases = (inventory: Inventory, due: Due): readonly Phase[] => {
  const controlPlane = [renewedEtcdClientCertificate(due), controlPlaneCertificates(due)];
  return ifAny(
    linux(
      'etcd-certificates',
      'Renew the certificates of etcd',
      etcdHosts(inventory),
      [renewedEtcdCertificates(due)],
      IN_TURN,
    ),
    linux(
      'control-plane-certificates',
      'Renew the certificates of the control planes',
      controlPlanes(inventory),
      controlPlane,
      IN_TURN,
    ),
  );
};

/**
 * Control planes whose kubelets have no valid certificate: all at once, because an etcd without quorum serves none of
 * them.
 */
export const kubeletCertificatesPhase = (inventory: Inventory): Phase =>
  linux(
    'kubelet-certificates',
    'Renew the certificates of kubelets',
    controlPlanes(inventory),
    [kubeletCertificateOfControlPlane],
    OVERLAPS,
  );

/** An API that was away for want of valid certificates answers again. */
const apiAnswers: Step<'cluster'> = {
  name: 'api-answers',
  settleMs: 5 * 60_000,
  diff: ({ facts }) => (facts.state === 'down' ? [waitForApi(facts)] : []),
};

/**
 * What `kbuild certs recover` does, in order: kubelets of control planes, so that their pods run; certificates of etcd
 * and of the control planes; then the API answers, and the kubelets of workers ask it for theirs.
 */
export const recoverCertificatesPhases = (inventory: Inventory): readonly Phase[] =>
  ifAny(
    kubeletCertificatesPhase(inventory),
    ...renewCertificatesPhases(inventory, nearItsEnd),
    cluster('api', 'Wait for the API', controlPlanes(inventory), [apiAnswers]),
    linux('worker-certificates', 'Renew the certificates of workers', linuxWorkers(inventory), [
      kubeletCertificateOfWorker,
    ]),
    ...verifyPhases(inventory),
  );
