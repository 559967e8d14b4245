import type { KubeadmAuthority } from '../certificates/authorities.value.ts';
import type { RotatedName } from '../certificates/certificates.facts.ts';
import { authorityPublished } from '../certificates/cluster-info.step.ts';
import { type Due, nearItsEnd } from '../certificates/expiry.ts';
import { kubeletCertificateOfControlPlane, kubeletCertificateOfWorker } from '../certificates/kubelet-client.step.ts';
import { kubeletServing } from '../certificates/kubelet-serving.step.ts';
import type { KeepControlPlane } from '../certificates/place-authority.step.ts';
import { authorityRenewed, type Renewals, renewedCas } from '../certificates/renew-ca.step.ts';
import { controlPlaneCertificates } from '../certificates/renew.step.ts';
import { authorityPrepared, signingApart } from '../certificates/rotation-1-prepare.step.ts';
import { bothCas, bothTrusted, loserGone, survivingCas } from '../certificates/rotation-2-trust-both.step.ts';
import { kubeletSigned, survivorSigns } from '../certificates/rotation-3-sign.step.ts';
import { tokenHoldersRestarted, workloadsRestarted } from '../certificates/rotation-4-restart-pods.step.ts';
import { rotationCleaned } from '../certificates/rotation-5-clean.step.ts';
import type { Rotating } from '../certificates/rotation.step.ts';
import { serviceAccountSigns, tokensReplaced } from '../certificates/service-account-key.step.ts';
import { waitForApi } from '../engine/combinators.ts';
import { cluster, ifAny, IN_TURN, linux, OVERLAPS } from '../engine/phases.ts';
import type { Phase, Step } from '../engine/step.ts';
import { renewedEtcdCertificates, renewedEtcdClientCertificate } from '../etcd/certificates.step.ts';
import { controlPlanes, etcdHosts, linuxNodes, linuxWorkers } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { verifyPhases } from './verify.phases.ts';

/**
 * The parts of a rotation that an operator agrees to one after another. Until the last one begins, there is a way back.
 */
export const ROTATION_PARTS = ['trust', 'sign', 'drop'] as const;

/** One of them. */
export type RotationPart = (typeof ROTATION_PARTS)[number];

const isOfCluster = (name: RotatedName): boolean => name === 'ca';

/** One control plane after another. */
const serial = (inventory: Inventory, name: string, title: string, steps: readonly Step[]): Phase =>
  linux(name, title, controlPlanes(inventory), steps, IN_TURN);

/** Workers, a tenth at a time. */
const onWorkers = (inventory: Inventory, name: string, title: string, steps: readonly Step[]): Phase =>
  linux(name, title, linuxWorkers(inventory), steps);

/** Once for the cluster. */
const once = (inventory: Inventory, name: string, title: string, step: Step<'cluster'>): Phase =>
  cluster(name, title, controlPlanes(inventory), [step]);

/** Both authorities are trusted everywhere, and the old one signs. */
function trustPhases(inventory: Inventory, rotating: Rotating): readonly Phase[] {
  const both = [bothTrusted(rotating)];
  return [
    serial(inventory, 'rotate-prepare', 'Keep a new authority beside the old one', [authorityPrepared(rotating)]),
    ...(isOfCluster(rotating.name)
      ? [serial(inventory, 'rotate-signing', 'Have the controller managers sign apart', [signingApart(rotating)])]
      : []),
    serial(inventory, 'rotate-trust', 'Trust both authorities on control planes', both),
    ...(isOfCluster(rotating.name)
      ? [
          onWorkers(inventory, 'rotate-trust-workers', 'Trust both authorities on workers', both),
          once(
            inventory,
            'rotate-publish',
            'Publish both authorities',
            authorityPublished(bothCas(rotating), 'both-published'),
          ),
        ]
      : []),
  ];
}

/** The authority that is left signs, and has signed everything. */
function signPhases(inventory: Inventory, rotating: Rotating): readonly Phase[] {
  if (rotating.name === 'sa')
    return [
      // On the way back the parts before are left out.
      ...(rotating.direction === 'back'
        ? [serial(inventory, 'rotate-prepare', 'Keep both keys beside each other', [authorityPrepared(rotating)])]
        : []),
      serial(inventory, 'rotate-sign', 'Sign tokens with the key that is left', [serviceAccountSigns(rotating)]),
      once(inventory, 'rotate-workloads', 'Restart workloads with older tokens', tokenHoldersRestarted(rotating)),
    ];
  const sign = serial(inventory, 'rotate-sign', 'Sign with the authority that is left', [survivorSigns(rotating)]);
  if (!isOfCluster(rotating.name)) return [sign];
  return [
    once(inventory, 'rotate-workloads', 'Restart workloads that know one authority', workloadsRestarted(rotating)),
    sign,
    linux('rotate-kubelets', 'Get kubelets certificates of the authority that is left', linuxNodes(inventory), [
      kubeletSigned(rotating),
      ...kubeletServing,
    ]),
  ];
}

/** Only one authority is trusted, and nothing is left of the other. */
function dropPhases(inventory: Inventory, rotating: Rotating): readonly Phase[] {
  const alone = [loserGone(rotating)];
  return [
    ...(rotating.name === 'sa'
      ? [once(inventory, 'rotate-tokens', 'See that nothing uses older tokens', tokensReplaced(rotating))]
      : []),
    serial(inventory, 'rotate-drop', 'Trust one authority alone on control planes', alone),
    ...(isOfCluster(rotating.name)
      ? [
          onWorkers(inventory, 'rotate-drop-workers', 'Trust one authority alone on workers', alone),
          once(
            inventory,
            'rotate-publish-one',
            'Publish one authority alone',
            authorityPublished(survivingCas(rotating), 'one-published'),
          ),
        ]
      : []),
    // What it deletes tells that a rotation is under way: everything else is through by then.
    serial(inventory, 'rotate-clean', 'Delete what the rotation kept', [rotationCleaned(rotating)]),
    ...verifyPhases(inventory),
  ];
}

/** What `kbuild certs rotate-ca` does in one of its parts, in order. */
export function rotateAuthorityPhases(inventory: Inventory, rotating: Rotating, part: RotationPart): readonly Phase[] {
  const phases = { trust: trustPhases, sign: signPhases, drop: dropPhases }[part];
  return ifAny(...phases(inventory, rotating));
}

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
