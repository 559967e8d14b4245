import type { Phase } from '../engine/step.ts';
import { dnsBlocks } from '../kubeadm/dns-blocks.ts';
import type { Inventory } from '../model/inventory.ts';
import { controlPlanes } from '../topology/select.ts';

/** Writes the inventory's own blocks into the Corefile. It comes with the proofs: the pod that tries them needs a working network. */
export const dnsPhases = (inventory: Inventory): readonly Phase[] => [
  {
    name: 'dns',
    title: 'Configure cluster DNS',
    kind: 'cluster',
    hosts: controlPlanes(inventory),
    steps: [dnsBlocks],
    verifies: true,
  },
];
