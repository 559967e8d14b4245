import type { Phase } from '../engine/step.ts';
import { etcdEndpoints } from '../etcd/endpoints.ts';
import { controlPlaneFiles } from '../kubeadm/control-plane-files.ts';
import { kubeletAuthority } from '../kubeadm/kubelet-authority.ts';
import { kubeletServing } from '../kubeadm/kubelet-serving.ts';
import { kubeletSettings } from '../kubeadm/kubelet-settings.ts';
import { labelsAndTaints } from '../kubeadm/labels-taints.ts';
import { noLeftoverTokens } from '../kubeadm/leftover-tokens.ts';
import type { Inventory } from '../model/inventory.ts';
import { servesByCluster } from '../model/kubelet-serving.ts';
import { userManifests } from '../network/index.ts';
import { serviceSubnets } from '../network/service-subnets.ts';
import { controlPlanes, atOnceOf, linuxNodes } from '../topology/select.ts';
import { handlerClasses } from '../runtime/handlers.ts';
import { unwantedObjects } from './wanted-objects.ts';
import { windowsNodePhases } from './windows.ts';

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
