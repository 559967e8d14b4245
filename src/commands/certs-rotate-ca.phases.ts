import type { RotatedName } from '../certificates/authorities.facts.ts';
import { authorityPublished } from '../certificates/cluster-info.step.ts';
import { kubeletServing } from '../certificates/kubelet-serving.step.ts';
import { authorityPrepared, signingApart } from '../certificates/rotation-1-prepare.step.ts';
import { bothCas, bothTrusted, loserGone, survivingCas } from '../certificates/rotation-2-trust-both.step.ts';
import { kubeletSigned, survivorSigns } from '../certificates/rotation-3-sign.step.ts';
import { tokenHoldersRestarted, workloadsRestarted } from '../certificates/rotation-4-restart-pods.step.ts';
import { rotationCleaned } from '../certificates/rotation-5-clean.step.ts';
import type { Rotating } from '../certificates/rotation.step.ts';
import { serviceAccountSigns, tokensReplaced } from '../certificates/service-account-key.step.ts';
import { cluster, ifAny, IN_TURN, linux } from '../engine/phases.ts';
import type { Phase, Step } from '../engine/step.ts';
import { controlPlanes, linuxNodes, linuxWorkers } from '../inventory/hosts.ts';
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
