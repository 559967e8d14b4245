import type { Due } from '../cluster/renewals.ts';
import type { Phase } from '../engine/step.ts';
import { renewedEtcdCertificates } from '../etcd/certificates.ts';
import { renewedEtcdClientCertificate } from '../etcd/client-certificate.ts';
import { controlPlaneCertificates } from '../kubeadm/control-plane-certificates.ts';
import type { Inventory } from '../model/inventory.ts';
import { controlPlanes, etcdHosts } from '../topology/select.ts';

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
