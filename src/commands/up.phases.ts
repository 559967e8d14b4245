import { kubeVip } from '../balancer/kube-vip.step.ts';
import { kubeletServing } from '../certificates/kubelet-serving.step.ts';
import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import type { Phase } from '../engine/step.ts';
import { etcdEndpoints } from '../etcd/endpoints.step.ts';
import { etcdPhases } from '../etcd/etcd.phases.ts';
import { atOnceOf, controlPlanes, linuxNodes, linuxWorkers } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { controlPlaneFiles } from '../kubeadm/control-plane-files.step.ts';
import { dnsBlocks } from '../kubeadm/dns-blocks.step.ts';
import { controlPlaneJoinSteps, undoSteps, workerJoinSteps } from '../kubeadm/kubeadm.phases.ts';
import { kubeletAuthority } from '../kubeadm/kubelet-authority.step.ts';
import { servesByCluster } from '../kubeadm/kubelet-serving.value.ts';
import { kubeletSettings } from '../kubeadm/kubelet.step.ts';
import { labelsAndTaints } from '../kubeadm/labels-taints.step.ts';
import { noLeftoverTokens } from '../kubeadm/tokens.step.ts';
import { networkSteps, userManifests } from '../network/plugins.step.ts';
import { serviceSubnets } from '../network/service-subnets.step.ts';
import { handlerClasses } from '../runtime/handlers.step.ts';
import {
  windowsJoinPhases,
  windowsNodePhases,
  windowsObjectSteps,
  windowsRuntimePhases,
} from '../windows/windows.phases.ts';
import { unwantedObjects } from './objects.phases.ts';
import { controlPlanePhases, preparePhases } from './prepare.phases.ts';
import { runtimePhases, verifiedAfterRuntime } from './runtime.phases.ts';
import { verifyPhases } from './verify.phases.ts';

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

/** Approves the serving certificates of kubelets that the inventory wants to have one of the cluster. */
const servingPhases = (inventory: Inventory): readonly Phase[] => {
  const hosts = linuxNodes(inventory).filter(servesByCluster);
  if (hosts.length === 0) return [];
  return [
    {
      name: 'kubelet-serving',
      title: 'Approve certificates of kubelets',
      kind: 'linux',
      hosts,
      steps: kubeletServing,
      overlaps: true,
    },
  ];
};

/** Has API servers verify those certificates, when all kubelets have theirs. */
const authorityPhases = (inventory: Inventory): readonly Phase[] => {
  if (!inventory.hosts.some(servesByCluster)) return [];
  return [
    {
      name: 'kubelet-authority',
      title: 'Verify certificates of kubelets',
      kind: 'cluster',
      hosts: controlPlanes(inventory),
      steps: [kubeletAuthority],
    },
  ];
};

/** Applies settings of joined nodes that were edited after the join, then the objects in the cluster. */
export function nodePhases(inventory: Inventory): readonly Phase[] {
  const controls = controlPlanes(inventory);
  const nodes = linuxNodes(inventory);
  return [
    {
      name: 'etcd-endpoints',
      title: 'Update etcd endpoints of API servers',
      kind: 'linux',
      hosts: inventory.etcd.topology === 'stacked' ? [] : controls,
      steps: [etcdEndpoints],
      concurrency: 1,
    },
    {
      name: 'control-plane-files',
      title: 'Restart control planes with changed files',
      kind: 'linux',
      hosts: inventory.files.length === 0 ? [] : controls,
      steps: [controlPlaneFiles],
      concurrency: 1,
    },
    {
      name: 'kubelets',
      title: 'Configure kubelets',
      kind: 'linux',
      hosts: nodes,
      steps: [kubeletSettings],
      concurrency: atOnceOf(inventory, nodes),
    },
    ...servingPhases(inventory),
    { name: 'nodes', title: 'Label nodes', kind: 'linux', hosts: nodes, steps: [labelsAndTaints], overlaps: true },
    ...windowsNodePhases(inventory),
    ...authorityPhases(inventory),
    {
      name: 'objects',
      title: 'Apply manifests',
      kind: 'cluster',
      hosts: controls,
      // Leftover tokens are deleted here, because no host joins any more and the jobs of earlier runs have ended.
      // The user's own Services may name addresses of the further networks, and their pods RuntimeClasses.
      steps: [noLeftoverTokens, serviceSubnets, handlerClasses, userManifests, unwantedObjects],
    },
  ];
}

/**
 * What `kbuild up` does, in order. Each host goes through the phases up to `settings` at its own pace,
 * so `kubeadm init` runs on the first control plane while workers still install packages and pull images. Then control
 * planes join one after another, while workers join and the pod network starts.
 *
 * Calls `before` before every change of etcd's members, and `keep` before it undoes a half-finished init, join or reset.
 */
export function up(
  inventory: Inventory,
  before: BeforeMembership = () => Promise.resolve(),
  keep: KeepData = () => Promise.resolve(),
): readonly Phase[] {
  return [
    ...preparePhases(inventory),
    ...etcdPhases(inventory, before, keep),
    ...controlPlanePhases(inventory, before, keep),
    ...joinPhases(inventory, before, keep),
    ...nodePhases(inventory),
    ...runtimePhases(inventory),
    ...windowsRuntimePhases(inventory),
    ...verifiedAfterRuntime(verifyPhases(inventory)),
    ...dnsPhases(inventory),
  ];
}
