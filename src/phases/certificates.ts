import { nearItsEnd, type Due } from '../cluster/renewals.ts';
import type { Phase, Step } from '../engine/step.ts';
import { renewedEtcdCertificates } from '../etcd/certificates.ts';
import { renewedEtcdClientCertificate } from '../etcd/client-certificate.ts';
import { controlPlaneCertificates } from '../kubeadm/control-plane-certificates.ts';
import { kubeletCertificateOfControlPlane, kubeletCertificateOfWorker } from '../kubeadm/kubelet-certificate.ts';
import type { Inventory } from '../model/inventory.ts';
import { waitForApi } from '../resources/wait-for-api.ts';
import { controlPlanes, etcdHosts, linuxWorkers } from '../topology/select.ts';
import { verifyPhases } from './verify.ts';

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
