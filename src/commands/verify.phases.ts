import { endpointServes } from '../balancer/balancer.phases.ts';
import { cluster, ifAny, linux, OVERLAPS, VERIFIES, windows } from '../engine/phases.ts';
import type { Phase } from '../engine/step.ts';
import { controlPlanes, linuxNodes, windowsHosts } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { corednsSpread } from '../kubeadm/coredns.step.ts';
import { controlPlaneServes } from '../kubeadm/join.step.ts';
import { cgroupProved, nodeReady, settled } from '../kubeadm/ready.step.ts';
import { networkReady } from '../network/ready.step.ts';
import { windowsVerifySteps } from '../windows/windows.phases.ts';

const nodeWorks = [nodeReady, controlPlaneServes, networkReady, cgroupProved, corednsSpread];

/** Beside the Linux hosts. */
const WINDOWS = { ...OVERLAPS, ...VERIFIES };

/** Verifies that nodes, pod network and control plane work. */
export const verifyPhases = (inventory: Inventory): readonly Phase[] => [
  linux('verify', 'Verify nodes', linuxNodes(inventory), nodeWorks, VERIFIES),
  ...ifAny(windows('windows-verify', 'Verify Windows nodes', windowsHosts(inventory), windowsVerifySteps, WINDOWS)),
  cluster('settled', 'Verify the control plane', controlPlanes(inventory), [endpointServes, settled], VERIFIES),
];
