import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import type { Phase } from '../engine/step.ts';
import type { Inventory } from '../model/inventory.ts';
import { balancers, controlPlanes, kubernetesHosts, linuxNodes, linuxWorkers, tenthOf } from '../topology/select.ts';
import { controlPlaneCertificates } from '../kubeadm/control-plane-certificates.ts';
import { controlPlaneFiles } from '../kubeadm/control-plane-files.ts';
import { registeredAgain } from '../kubeadm/registered-again.ts';
import { adminKubeconfig } from '../kubeadm/admin-kubeconfig.ts';
import { corednsSpread } from '../kubeadm/coredns-spread.ts';
import { etcdClientCertificate } from '../etcd/client-certificate.ts';
import { etcdEndpoints } from '../etcd/endpoints.ts';
import { externalEtcd } from '../etcd/external.ts';
import { earlierMachineGone } from '../kubeadm/earlier-machine.ts';
import { kubeadmInit } from '../kubeadm/init.ts';
import { jobEnded } from '../kubeadm/job-ended.ts';
import { controlPlanesWell, controlPlaneServes, joinControlPlane } from '../kubeadm/join-control-plane.ts';
import { joinWorker } from '../kubeadm/join-worker.ts';
import { kubeletRequests } from '../kubeadm/kubelet-requests.ts';
import { kubeletSettings } from '../kubeadm/kubelet-settings.ts';
import { labelsAndTaints } from '../kubeadm/labels-taints.ts';
import { noLeftoverTokens } from '../kubeadm/leftover-tokens.ts';
import { noMarker } from '../kubeadm/marker.ts';
import { kubeadmPatches } from '../kubeadm/patches.ts';
import { kubeadmSettings } from '../kubeadm/settings.ts';
import { undoHalfFinished, undoMayBegin } from '../kubeadm/undo-half-finished.ts';
import { cgroupProved, nodeReady, settled } from '../kubeadm/verify.ts';
import { endpointServes } from '../lb/endpoint-serves.ts';
import { kubeVip, kubeVipOfFounder } from '../lb/kube-vip.ts';
import { networkSteps } from '../network/index.ts';
import { networkReady } from '../network/network-ready.ts';
import { userManifests } from '../network/user-manifests.ts';
import { windowsNetwork } from '../windows/network/index.ts';
import { cloudInitEnded } from '../node/cloud-init-ended.ts';
import { kubernetesPackages } from '../node/kubernetes-packages.ts';
import { prepare } from '../node/prepare.ts';
import { images } from '../runtime/images.ts';
import { runtimeSteps } from '../runtime/index.ts';
import { runtimeClasses } from '../windows/runtime-classes.ts';
import { etcdPhases } from './etcd.ts';
import { loadBalancerPhases } from './load-balancer.ts';
import { unwantedObjects } from './wanted-objects.ts';
import { windowsPhases } from './windows.ts';

/**
 * What `kbuild up` does, in order: the table of contents. A host goes through all phases up to `settings` at its own pace,
 * so the founder's init runs while workers still install and pull. Then control planes join one after another, and workers
 * and the network plugin beside them. `before` is called before every change of etcd's members,
 * `keep` before something half-finished is undone.
 */
export function up(
  inventory: Inventory,
  before: BeforeMembership = () => Promise.resolve(),
  keep: KeepData = () => Promise.resolve(),
): readonly Phase[] {
  const hosts = kubernetesHosts(inventory);
  const nodes = linuxNodes(inventory);
  const founders = controlPlanes(inventory);
  const workers = linuxWorkers(inventory);
  const windows = windowsPhases(inventory);
  const linux = { kind: 'linux' } as const;
  const cluster = { kind: 'cluster', hosts: founders } as const;
  const stacked = inventory.etcd.topology === 'stacked';
  const clear = [undoMayBegin, undoHalfFinished(before, keep)];
  return [
    {
      name: 'prepare',
      title: 'Prepare hosts',
      ...linux,
      hosts,
      steps: [jobEnded, adminKubeconfig, cloudInitEnded, ...prepare],
    },
    ...loadBalancerPhases(inventory),
    {
      name: 'runtime',
      title: 'Install the container runtime',
      ...linux,
      hosts,
      steps: runtimeSteps(inventory),
      // kubeadm's init talks to the endpoint: all balancers stand before the founder goes on.
      ...(balancers(inventory).length > 0 ? {} : { overlaps: true }),
    },
    {
      name: 'packages',
      title: 'Install Kubernetes',
      ...linux,
      hosts,
      steps: kubernetesPackages,
      overlaps: true,
    },
    { name: 'images', title: 'Pull images', ...linux, hosts, steps: [images], overlaps: true },
    ...windows.prepare,
    ...etcdPhases(inventory, before, keep),
    {
      name: 'reach-etcd',
      title: 'Connect to the external etcd',
      ...linux,
      hosts: stacked ? [] : founders,
      // What is undone takes the certificates with it.
      steps: [...clear, etcdClientCertificate, ...externalEtcd],
      concurrency: 1,
      // Where kbuild builds etcd beside the control planes, all of it serves before.
      ...(inventory.etcd.topology === 'built' ? {} : { overlaps: true }),
    },
    {
      name: 'init',
      title: 'Initialize the cluster',
      ...linux,
      hosts: founders,
      steps: [
        ...(stacked ? clear : []),
        kubeadmPatches,
        kubeVipOfFounder,
        kubeadmInit,
        noMarker,
        controlPlaneCertificates,
      ],
      concurrency: 1,
      // An external etcd answers every control plane before kubeadm runs on any.
      ...(stacked ? { overlaps: true } : {}),
    },
    // Before any host joins: kubeadm reads these settings during a join.
    {
      name: 'settings',
      title: 'Configure kubeadm',
      ...cluster,
      steps: [kubeadmSettings, kubeletRequests],
      overlaps: true,
    },
    {
      name: 'network',
      title: 'Install the pod network',
      ...cluster,
      steps: [...networkSteps(inventory), windowsNetwork, runtimeClasses],
    },
    {
      name: 'control-planes',
      title: 'Join control planes',
      ...linux,
      hosts: founders,
      steps: [earlierMachineGone, controlPlanesWell, joinControlPlane(before), noMarker, ...registeredAgain, kubeVip],
      concurrency: 1,
      overlaps: true,
    },
    {
      name: 'join',
      title: 'Join workers',
      ...linux,
      hosts: workers,
      steps: [...clear, kubeadmPatches, earlierMachineGone, joinWorker, noMarker, ...registeredAgain],
      overlaps: true,
    },
    ...windows.join,
    {
      name: 'etcd-endpoints',
      title: 'Update etcd endpoints of API servers',
      ...linux,
      hosts: stacked ? [] : founders,
      steps: [etcdEndpoints],
      concurrency: 1,
    },
    {
      name: 'control-plane-files',
      title: 'Restart control planes with changed files',
      ...linux,
      hosts: inventory.files.length === 0 ? [] : founders,
      steps: [controlPlaneFiles],
      concurrency: 1,
    },
    {
      name: 'kubelets',
      title: 'Configure kubelets',
      ...linux,
      hosts: nodes,
      steps: [kubeletSettings],
      concurrency: tenthOf(nodes),
    },
    { name: 'nodes', title: 'Label nodes', ...linux, hosts: nodes, steps: [labelsAndTaints], overlaps: true },
    ...windows.nodes,
    {
      name: 'objects',
      title: 'Apply manifests',
      ...cluster,
      // No host is joining any more, neither by this run nor by a run that this one waited for.
      steps: [noLeftoverTokens, userManifests, unwantedObjects],
    },
    {
      name: 'verify',
      title: 'Verify nodes',
      ...linux,
      hosts: nodes,
      steps: [nodeReady, controlPlaneServes, networkReady, cgroupProved, corednsSpread],
      verifies: true,
    },
    ...windows.verify,
    {
      name: 'settled',
      title: 'Verify the control plane',
      ...cluster,
      steps: [endpointServes, settled],
      verifies: true,
    },
  ];
}
