import { endpointServes } from '../balancer/balancer.phases.ts';
import type { Phase } from '../engine/step.ts';
import { controlPlanes, linuxNodes } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { corednsSpread } from '../kubeadm/coredns.step.ts';
import { controlPlaneServes } from '../kubeadm/join.step.ts';
import { cgroupProved, nodeReady, settled } from '../kubeadm/ready.step.ts';
import { networkReady } from '../network/ready.step.ts';
import { windowsVerifyPhases } from '../windows/windows.phases.ts';

/** Verifies that nodes, pod network and control plane work. */
export function verifyPhases(inventory: Inventory): readonly Phase[] {
  return [
    {
      name: 'verify',
      title: 'Verify nodes',
      kind: 'linux',
      hosts: linuxNodes(inventory),
      steps: [nodeReady, controlPlaneServes, networkReady, cgroupProved, corednsSpread],
      verifies: true,
    },
    ...windowsVerifyPhases(inventory),
    {
      name: 'settled',
      title: 'Verify the control plane',
      kind: 'cluster',
      hosts: controlPlanes(inventory),
      steps: [endpointServes, settled],
      verifies: true,
    },
  ];
}
