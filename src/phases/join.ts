import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import type { Phase } from '../engine/step.ts';
import { controlPlaneJoinSteps, undoSteps, workerJoinSteps } from '../kubeadm/steps.ts';
import { kubeVip } from '../lb/kube-vip.ts';
import type { Inventory } from '../model/inventory.ts';
import { networkSteps } from '../network/index.ts';
import { controlPlanes, linuxWorkers } from '../topology/select.ts';
import { windowsObjectSteps } from '../windows/steps.ts';
import { windowsJoinPhases } from './windows.ts';

/** Installs the pod network and joins all further nodes at the same time. Control planes join one after another. */
export function joinPhases(inventory: Inventory, before: BeforeMembership, keep: KeepData): readonly Phase[] {
  const controls = controlPlanes(inventory);
  return [
    {
      name: 'network',
      title: 'Install the pod network',
      kind: 'cluster',
      hosts: controls,
      steps: [...networkSteps(inventory), ...windowsObjectSteps],
    },
    {
      name: 'control-planes',
      title: 'Join control planes',
      kind: 'linux',
      hosts: controls,
      steps: [...controlPlaneJoinSteps(before), kubeVip],
      concurrency: 1,
      overlaps: true,
    },
    {
      name: 'join',
      title: 'Join workers',
      kind: 'linux',
      hosts: linuxWorkers(inventory),
      steps: [...undoSteps(before, keep), ...workerJoinSteps],
      overlaps: true,
    },
    ...windowsJoinPhases(inventory),
  ];
}
