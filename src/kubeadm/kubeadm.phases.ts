import { kubeletCertificateOfWorker } from '../certificates/kubelet-client.step.ts';
import { kubeletRequests } from '../certificates/kubelet-serving.step.ts';
import { apiServerCertificateNames, renewedCertificates } from '../certificates/renew.step.ts';
import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import type { Step } from '../engine/step.ts';
import { kubeadmPatches } from './control-plane-files.step.ts';
import { initOf } from './init.step.ts';
import type { FromBackup } from './run-kubeadm.step.ts';
import { controlPlanesWell, joinControlPlane, joinWorker } from './join.step.ts';
import { earlierMachineGone, noMarker, registeredAgain } from './register-node.step.ts';
import { kubeadmSettings } from './settings.step.ts';
import { undoHalfFinished, undoMayBegin } from './undo.step.ts';

/** Steps that undo an unfinished init, join or reset, so that it can be repeated. */
export const undoSteps = (before: BeforeMembership, keep: KeepData): readonly Step[] => [
  undoMayBegin,
  undoHalfFinished(before, keep),
];

/**
 * Steps that initialize the cluster on its first control plane, or restore a lost cluster `from` a backup. kubeadm's
 * patches must be on the host before.
 */
export const initSteps = (from?: FromBackup): readonly Step[] => [
  initOf(from),
  noMarker,
  renewedCertificates,
  apiServerCertificateNames,
];

/** Steps that join a further control plane. */
export const controlPlaneJoinSteps = (before: BeforeMembership): readonly Step[] => [
  earlierMachineGone,
  controlPlanesWell,
  joinControlPlane(before),
  noMarker,
  ...registeredAgain,
];

/** Steps that join a Linux worker. */
export const workerJoinSteps: readonly Step[] = [
  kubeadmPatches,
  earlierMachineGone,
  joinWorker,
  noMarker,
  kubeletCertificateOfWorker,
  ...registeredAgain,
];

/** Steps that apply the settings that kubeadm keeps in the cluster, and sign the requests of kubelets. */
export const clusterSettingsSteps: readonly Step<'cluster'>[] = [kubeadmSettings, kubeletRequests];
