import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import type { FromBackup } from '../configuration/kubeadm-job.ts';
import type { Phase } from '../engine/step.ts';
import { kubeadmPatches } from '../kubeadm/patches.ts';
import { kubeletCertificatesPhase } from './certificates.ts';
import { clusterSettingsSteps, initSteps, undoSteps } from '../kubeadm/steps.ts';
import { kubeVipOfFounder } from '../lb/kube-vip.ts';
import type { Inventory } from '../model/inventory.ts';
import { controlPlanes } from '../topology/select.ts';

/** Initializes the first control plane (`from` a backup, if the cluster was lost), and applies the settings that kubeadm stores in the cluster. */
export function controlPlanePhases(
  inventory: Inventory,
  before: BeforeMembership,
  keep: KeepData,
  from?: FromBackup,
): readonly Phase[] {
  const hosts = controlPlanes(inventory);
  const isStacked = inventory.etcd.topology === 'stacked';
  return [
    kubeletCertificatesPhase(inventory),
    {
      name: 'init',
      title: 'Initialize the cluster',
      kind: 'linux',
      hosts,
      // With an external etcd, the phase `reach-etcd` has already undone half-finished actions.
      steps: [...(isStacked ? undoSteps(before, keep) : []), kubeadmPatches, kubeVipOfFounder, ...initSteps(from)],
      concurrency: 1,
      // An external etcd must answer every control plane before kubeadm runs on any of them.
      ...(isStacked ? { overlaps: true } : {}),
    },
    {
      // Before any host joins: kubeadm reads these settings during a join.
      name: 'settings',
      title: 'Configure kubeadm',
      kind: 'cluster',
      hosts,
      steps: clusterSettingsSteps,
      overlaps: true,
    },
  ];
}
