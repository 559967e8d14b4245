import type { Phase } from '../engine/step.ts';
import { corednsSpread } from '../kubeadm/coredns-spread.ts';
import { controlPlaneServes } from '../kubeadm/join-control-plane.ts';
import { cgroupProved, nodeReady, settled } from '../kubeadm/verify.ts';
import { endpointServes } from '../lb/steps.ts';
import type { Inventory } from '../model/inventory.ts';
import { networkReady } from '../network/network-ready.ts';
import { controlPlanes, linuxNodes } from '../topology/select.ts';
import { windowsVerifyPhases } from './windows.ts';

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
