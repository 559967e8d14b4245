import { balancerPackages, balancerSteps, formerBalancerSteps } from '../balancer/balancer.phases.ts';
import { kubeVipOfFounder } from '../balancer/kube-vip.step.ts';
import { balancerTools } from '../balancer/servers.step.ts';
import { sharedKeysBack } from '../certificates/shared-keys.step.ts';
import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import type { Phase } from '../engine/step.ts';
import { cloudInitEnded, jobEnded } from '../host/idle.step.ts';
import { prepare, prepareBalancer } from '../host/prepare.phases.ts';
import { balancers, controlPlanes, kubernetesHosts, withRole } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { adminKubeconfig } from '../kubeadm/admin-kubeconfig.step.ts';
import type { FromBackup } from '../kubeadm/job.step.ts';
import { clusterSettingsSteps, initSteps, undoSteps } from '../kubeadm/kubeadm.phases.ts';
import { kubernetesPackages } from '../kubeadm/packages.step.ts';
import { kubeadmPatches } from '../kubeadm/patches.step.ts';
import { images } from '../runtime/images.step.ts';
import { runtimeSteps } from '../runtime/runtimes.step.ts';
import { atRuntimeOfHost } from '../runtime/version.step.ts';
import { windowsPreparePhases } from '../windows/windows.phases.ts';
import { kubeletCertificatesPhase } from './certs.phases.ts';

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

/**
 * Builds the load balancers. They run before the control planes, because `kubeadm init` connects to the endpoint. Their
 * configuration changes on one host at a time, without an interruption.
 */
export function loadBalancerPhases(inventory: Inventory): readonly Phase[] {
  const linux = { kind: 'linux' } as const;
  const all = balancers(inventory);
  const others = kubernetesHosts(inventory).filter(({ name }) => !all.some((balancer) => balancer.name === name));
  const phases: readonly Phase[] = [
    {
      name: 'prepare-balancers',
      title: 'Prepare load balancers',
      ...linux,
      hosts: withRole(inventory, 'load-balancer'),
      steps: [jobEnded, ...prepareBalancer],
      overlaps: true,
    },
    {
      name: 'balancer-packages',
      title: 'Install load balancers',
      ...linux,
      hosts: all,
      steps: [balancerPackages, balancerTools],
      overlaps: true,
    },
    {
      name: 'load-balancer',
      title: 'Configure load balancers',
      ...linux,
      hosts: all,
      steps: balancerSteps,
      concurrency: 1,
      overlaps: true,
    },
    {
      name: 'former-balancers',
      title: 'Stop former load balancers',
      ...linux,
      hosts: others,
      steps: formerBalancerSteps,
      // Old and new load balancers may overlap: both forward to the API.
      ...(all.length > 0 ? {} : { overlaps: true }),
    },
  ];
  return phases.filter(({ hosts }) => hosts.length > 0);
}

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
