import { kubeletCertificateOfWorker } from '../certificates/kubelet-client.step.ts';
import { kubeletRequests } from '../certificates/kubelet-serving.step.ts';
import { apiServerCertificateNames, renewedCertificates } from '../certificates/renew.step.ts';
import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import type { Step } from '../engine/step.ts';
import { initOf } from './init.step.ts';
import type { FromBackup } from './job.step.ts';
import { controlPlanesWell, joinControlPlane, joinWorker } from './join.step.ts';
import { kubeadmPatches } from './patches.step.ts';
import { earlierMachineGone, noMarker, registeredAgain } from './register-node.step.ts';
import { kubeadmSettings } from './settings.step.ts';
import { undoHalfFinished, undoMayBegin } from './undo.step.ts';

/** Undo an init, join or reset that did not end, so that it can be repeated. */
export const undoSteps = (before: BeforeMembership, keep: KeepData): readonly Step[] => [
  undoMayBegin,
  undoHalfFinished(before, keep),
];

/**
 * Initialize the cluster on its first control plane, `from` a backup if it was lost. Need kubeadm's patches on the
 * host.
 */
export const initSteps = (from?: FromBackup): readonly Step[] => [
  initOf(from),
  noMarker,
  renewedCertificates,
  apiServerCertificateNames,
];

/** Join a further control plane. */
export const controlPlaneJoinSteps = (before: BeforeMembership): readonly Step[] => [
  earlierMachineGone,
  controlPlanesWell,
  joinControlPlane(before),
  noMarker,
  ...registeredAgain,
];

/** Join a Linux worker. */
export const workerJoinSteps: readonly Step[] = [
  kubeadmPatches,
  earlierMachineGone,
  joinWorker,
  noMarker,
  kubeletCertificateOfWorker,
  ...registeredAgain,
];

/** Apply what kubeadm keeps in the cluster, and sign the requests of kubelets. */
export const clusterSettingsSteps: readonly Step<'cluster'>[] = [kubeadmSettings, kubeletRequests];
