import type { Phase } from '../engine/step.ts';
import { adminKubeconfig } from '../kubeadm/admin-kubeconfig.ts';
import { sharedKeysBack } from '../kubeadm/shared-keys.ts';
import type { Inventory } from '../model/inventory.ts';
import { cloudInitEnded, jobEnded } from '../node/running-work.ts';
import { kubernetesPackages } from '../node/kubernetes-packages.ts';
import { prepare } from '../node/prepare.ts';
import { images } from '../runtime/images.ts';
import { runtimeSteps } from '../runtime/index.ts';
import { atRuntimeOfHost } from '../runtime/version.ts';
import { balancers, kubernetesHosts } from '../topology/select.ts';
import { loadBalancerPhases } from './load-balancer.ts';
import { windowsPreparePhases } from './windows.ts';

/** Prepares hosts for kubeadm: system settings, load balancers, runtime, packages, images. */
export function preparePhases(inventory: Inventory): readonly Phase[] {
  const linux = { kind: 'linux', hosts: kubernetesHosts(inventory) } as const;
  return [
    {
      name: 'prepare',
      title: 'Prepare hosts',
      ...linux,
      steps: [jobEnded, sharedKeysBack, adminKubeconfig, cloudInitEnded, ...prepare],
    },
    ...loadBalancerPhases(inventory),
    {
      name: 'runtime',
      title: 'Install the container runtime',
      ...linux,
      steps: runtimeSteps(inventory).map(atRuntimeOfHost),
      // `kubeadm init` connects to the endpoint: every load balancer must run before the first control plane goes on.
      ...(balancers(inventory).length > 0 ? {} : { overlaps: true }),
    },
    { name: 'packages', title: 'Install Kubernetes', ...linux, steps: kubernetesPackages, overlaps: true },
    { name: 'images', title: 'Pull images', ...linux, steps: [images], overlaps: true },
    ...windowsPreparePhases(inventory),
  ];
}
