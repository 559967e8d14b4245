import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import type { Step } from '../engine/step.ts';
import { apiServerCertificateNames } from './api-server-names.ts';
import { renewedCertificates } from './control-plane-certificates.ts';
import { earlierMachineGone } from './earlier-machine.ts';
import type { FromBackup } from '../configuration/kubeadm-job.ts';
import { initOf } from './init.ts';
import { controlPlanesWell, joinControlPlane } from './join-control-plane.ts';
import { joinWorker } from './join-worker.ts';
import { kubeletCertificateOfWorker } from './kubelet-certificate.ts';
import { kubeletRequests } from './kubelet-requests.ts';
import { noMarker } from './marker.ts';
import { kubeadmPatches } from './patches.ts';
import { registeredAgain } from './registered-again.ts';
import { kubeadmSettings } from './settings.ts';
import { undoHalfFinished, undoMayBegin } from './undo-half-finished.ts';

/** Undo an init, join or reset that did not end, so that it can be repeated. */
export const undoSteps = (before: BeforeMembership, keep: KeepData): readonly Step[] => [
  undoMayBegin,
  undoHalfFinished(before, keep),
];

/** Initialize the cluster on its first control plane, `from` a backup if it was lost. Need kubeadm's patches on the host. */
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
