import { balancerPackages, balancerSteps, formerBalancerSteps } from '../balancer/balancer.phases.ts';
import { kubeVip, kubeVipOfFounder } from '../balancer/kube-vip.step.ts';
import { balancerTools } from '../balancer/servers.step.ts';
import { kubeletServing } from '../certificates/kubelet-serving.step.ts';
import { sharedKeysBack } from '../certificates/place-authority.step.ts';
import type { BeforeMembership, KeepData } from '../cluster/members.ts';
import { cluster, ifAny, IN_TURN, linux, OVERLAPS, QUEUED, VERIFIES, windows } from '../engine/phases.ts';
import { inTurn, rolling } from '../engine/rolling.ts';
import type { Phase, Step } from '../engine/step.ts';
import { etcdAuthority } from '../etcd/authority.step.ts';
import { etcdCertificates, etcdClientCertificate } from '../etcd/certificates.step.ts';
import { etcdEndpoints, externalEtcd } from '../etcd/endpoints.step.ts';
import { etcdFounded, undoHalfFinishedEtcd } from '../etcd/found.step.ts';
import { etcdKubelet } from '../etcd/kubelet.step.ts';
import { etcdMembers } from '../etcd/members.step.ts';
import { cloudInitEnded, jobEnded } from '../host/idle.step.ts';
import { prepare, prepareBalancer } from '../host/prepare.phases.ts';
import {
  atOnceOf,
  balancers,
  controlPlanes,
  etcdHosts,
  kubernetesHosts,
  linuxNodes,
  linuxWorkers,
  windowsHosts,
  withRole,
} from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { controlPlaneFiles, kubeadmPatches } from '../kubeadm/control-plane-files.step.ts';
import { dnsBlocks } from '../kubeadm/dns-blocks.step.ts';
import { acceptedConfiguration } from '../kubeadm/init.step.ts';
import type { FromBackup } from '../kubeadm/run-kubeadm.step.ts';
import {
  clusterSettingsSteps,
  controlPlaneJoinSteps,
  initSteps,
  undoSteps,
  workerJoinSteps,
} from '../kubeadm/kubeadm.phases.ts';
import { adminKubeconfig } from '../kubeadm/kubeconfigs.step.ts';
import { kubeletAuthority } from '../kubeadm/kubelet-authority.step.ts';
import { servesByCluster } from '../kubeadm/kubelet-serving.value.ts';
import { kubeletObeys, kubeletSettings } from '../kubeadm/kubelet.step.ts';
import { labelsAndTaints } from '../kubeadm/labels-taints.step.ts';
import { kubernetesPackages } from '../kubeadm/packages.step.ts';
import { noLeftoverTokens } from '../kubeadm/tokens.step.ts';
import { loadBalancerSteps } from '../network/load-balancers.step.ts';
import { nodeLocalDns } from '../network/node-local-dns.step.ts';
import { networkSteps, userManifests } from '../network/plugins.step.ts';
import { serviceSubnets } from '../network/service-subnets.step.ts';
import { handlerClasses } from '../runtime/handlers.step.ts';
import { images } from '../runtime/images.step.ts';
import { runtimeSteps } from '../runtime/runtimes.step.ts';
import { atRuntimeOfHost } from '../runtime/version.step.ts';
import { windowsKubernetes } from '../windows/kubernetes.step.ts';
import { containerdRoll } from '../windows/rolling-containerd.step.ts';
import {
  windowsJoinSteps,
  windowsNodeSteps,
  windowsObjectSteps,
  windowsPrepareSteps,
  windowsRuntimeSteps,
  windowsRuntimeTitle,
} from '../windows/windows.phases.ts';
import { kubeletCertificatesPhase } from './certs.phases.ts';
import { unwantedObjects } from './objects.phases.ts';
import { runtimeVersion, verifiedAfterRuntime } from './runtime.phases.ts';
import { verifyPhases } from './verify.phases.ts';

/** Steps that give a host of role etcd the CA of etcd and its own certificates. */
const etcdCertificateSteps: readonly Step[] = [etcdAuthority, etcdCertificates];

/** Steps that connect a control plane to an etcd on other hosts. */
const etcdConnectionSteps: readonly Step[] = [etcdClientCertificate, ...externalEtcd];

/** True if each node has a balancer for itself: none waits for that of another one. */
const isLocal = ({ loadBalancer }: Inventory): boolean => loadBalancer.kind === 'local';

/** The hosts of `up` by what they do in it. */
function hostsOf(inventory: Inventory) {
  const kubernetes = kubernetesHosts(inventory);
  const balancing = balancers(inventory);
  const controls = controlPlanes(inventory);
  const nodes = linuxNodes(inventory);
  return {
    ...{ kubernetes, balancing, controls, nodes },
    workers: linuxWorkers(inventory),
    etcd: etcdHosts(inventory),
    onWindows: windowsHosts(inventory),
    ownBalancers: withRole(inventory, 'load-balancer'),
    // Every node may have another balancer than that of its own.
    notBalancing: kubernetes.filter(
      ({ name }) => isLocal(inventory) || !balancing.some((balancer) => balancer.name === name),
    ),
    /** Workers come first: what breaks there breaks no control plane. */
    joined: [...linuxWorkers(inventory), ...etcdHosts(inventory), ...controls],
    /** Control planes whose etcd does not run on them. */
    etcdClients: inventory.etcd.topology === 'stacked' ? [] : controls,
    /** Control planes with files of the inventory. */
    withFiles: inventory.files.length === 0 ? [] : controls,
    /** Nodes whose kubelets get their serving certificates of the cluster. */
    served: nodes.filter(servesByCluster),
    /** Control planes that verify such certificates. */
    verifying: inventory.hosts.some(servesByCluster) ? controls : [],
  };
}

/** What earlier runs may have left undone on a host. */
const earlierRuns = [sharedKeysBack, adminKubeconfig];

/** What the first control plane has before kubeadm initializes it. */
const beforeInit = [kubeadmPatches, kubeVipOfFounder];

/** The switches of phases that overlap only in some inventories. */
const switchesOf = (inventory: Inventory) => ({
  // `kubeadm init` connects to the endpoint: every load balancer must run before the first control plane goes on. Old
  // and new ones may overlap.
  unlessBalancing: balancers(inventory).length > 0 && !isLocal(inventory) ? {} : OVERLAPS,
  balancersInTurn: isLocal(inventory) ? OVERLAPS : QUEUED,
  // A control plane connects only after all members that kbuild builds serve.
  etcdThere: inventory.etcd.topology === 'built' ? IN_TURN : QUEUED,
  // An external etcd must answer every control plane before kubeadm runs on any of them.
  ifStacked: inventory.etcd.topology === 'stacked' ? QUEUED : IN_TURN,
});

/**
 * The objects in the cluster. The user's own Services may name addresses of the further networks, and their pods
 * RuntimeClasses.
 */
const objects = [
  ...[serviceSubnets, handlerClasses, nodeLocalDns, ...loadBalancerSteps],
  ...[userManifests, unwantedObjects],
];

/**
 * What `kbuild up` does, in order. Each host goes through the phases up to `settings` at its own pace,
 * so `kubeadm init` runs on the first control plane while workers still install packages and pull images. Then control
 * planes join one after another, while workers join and the pod network starts.
 *
 * Calls `before` before every change of etcd's members, and `keep` before it undoes a half-finished init, join or
 * reset. `from`: the backup of a cluster that was lost, with whose keys and data the first control plane begins.
 */
export function up(
  inventory: Inventory,
  before: BeforeMembership = () => Promise.resolve(),
  keep: KeepData = () => Promise.resolve(),
  from?: FromBackup,
): readonly Phase[] {
  const { kubernetes, balancing, ownBalancers, notBalancing, etcd, onWindows, ...more } = hostsOf(inventory);
  const { controls, workers, nodes, etcdClients, withFiles, served, verifying, joined } = more;
  const { unlessBalancing, balancersInTurn, etcdThere, ifStacked } = switchesOf(inventory);
  const [fewNodes, runtime] = [atOnceOf(inventory, nodes), runtimeSteps(inventory).map(atRuntimeOfHost)];
  // With an etcd elsewhere, `reach-etcd` undoes, before it connects: undoing deletes the client certificates.
  const [undo, undoStacked] = [undoSteps(before, keep), etcdClients.length > 0 ? [] : undoSteps(before, keep)];
  return [
    linux('prepare', 'Prepare hosts', kubernetes, [jobEnded, ...earlierRuns, cloudInitEnded, ...prepare]),
    ...ifAny(
      linux('prepare-balancers', 'Prepare load balancers', ownBalancers, [jobEnded, ...prepareBalancer], OVERLAPS),
      linux('balancer-packages', 'Install load balancers', balancing, [balancerPackages, balancerTools], OVERLAPS),
      linux('load-balancer', 'Configure load balancers', balancing, balancerSteps, balancersInTurn),
      linux('former-balancers', 'Stop former load balancers', notBalancing, formerBalancerSteps, unlessBalancing),
    ),
    linux('runtime', 'Install the container runtime', kubernetes, runtime, unlessBalancing),
    linux('packages', 'Install Kubernetes', kubernetes, [...kubernetesPackages, acceptedConfiguration], OVERLAPS),
    linux('images', 'Pull images', kubernetes, [images], OVERLAPS),
    ...ifAny(
      windows('windows-prepare', 'Prepare Windows hosts', onWindows, [jobEnded, ...windowsPrepareSteps], OVERLAPS),
      windows('windows-runtime', 'Install the container runtime on Windows', onWindows, windowsRuntimeSteps, OVERLAPS),
      windows('windows-packages', 'Install Kubernetes on Windows', onWindows, windowsKubernetes, OVERLAPS),
      linux('etcd-undo', 'Undo half-finished etcd members', etcd, undoHalfFinishedEtcd(before, keep), QUEUED),
      linux('etcd-kubelets', 'Start the kubelets of etcd hosts', etcd, etcdKubelet, OVERLAPS),
      linux('etcd-certificates', 'Create etcd certificates', etcd, etcdCertificateSteps, QUEUED),
      linux('etcd-start', 'Install etcd', etcd, etcdFounded, OVERLAPS),
      linux('etcd-members', 'Join etcd members', etcd, etcdMembers(before), IN_TURN),
    ),
    linux('reach-etcd', 'Connect to the external etcd', etcdClients, [...undo, ...etcdConnectionSteps], etcdThere),
    kubeletCertificatesPhase(inventory),
    linux('init', 'Initialize the cluster', controls, [...undoStacked, ...beforeInit, ...initSteps(from)], ifStacked),
    // Before any host joins: kubeadm reads these settings during a join.
    cluster('settings', 'Configure kubeadm', controls, clusterSettingsSteps, OVERLAPS),
    cluster('network', 'Install the pod network', controls, [...networkSteps(inventory), ...windowsObjectSteps]),
    linux('control-planes', 'Join control planes', controls, [...controlPlaneJoinSteps(before), kubeVip], QUEUED),
    linux('join', 'Join workers', workers, [...undo, ...workerJoinSteps], OVERLAPS),
    ...ifAny(windows('windows-join', 'Join Windows workers', onWindows, windowsJoinSteps(inventory), OVERLAPS)),
    linux('etcd-endpoints', 'Update etcd endpoints of API servers', etcdClients, [etcdEndpoints], IN_TURN),
    linux('control-plane-files', 'Restart control planes with changed files', withFiles, [controlPlaneFiles], IN_TURN),
    linux('kubelets', 'Configure kubelets', nodes, [kubeletSettings, kubeletObeys], { concurrency: fewNodes }),
    ...ifAny(linux('kubelet-serving', 'Approve certificates of kubelets', served, kubeletServing, OVERLAPS)),
    linux('nodes', 'Label nodes', nodes, [labelsAndTaints], OVERLAPS),
    ...ifAny(
      windows('windows-nodes', 'Label Windows nodes', onWindows, windowsNodeSteps(inventory), OVERLAPS),
      cluster('kubelet-authority', 'Verify certificates of kubelets', verifying, [kubeletAuthority]),
    ),
    // Leftover tokens are deleted here, because no host joins any more and the jobs of earlier runs have ended.
    cluster('objects', 'Apply manifests', controls, [noLeftoverTokens, ...objects]),
    ...rolling('linux', inTurn('runtime-version', 'Change the container runtime', joined), runtimeVersion(inventory)),
    ...ifAny(...rolling('windows', inTurn('windows-runtime-version', windowsRuntimeTitle, onWindows), containerdRoll)),
    ...verifiedAfterRuntime(verifyPhases(inventory)),
    // It comes with the proofs: the pod that tries the inventory's own blocks of the Corefile needs a working network.
    cluster('dns', 'Configure cluster DNS', controls, [dnsBlocks], VERIFIES),
  ];
}
