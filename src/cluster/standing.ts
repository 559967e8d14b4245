import { signingAuthority } from '../certificates/signing-command.value.ts';
import { Refused } from '../errors.ts';
import { ADMIN_CONF } from '../inventory/api-server.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Host, Inventory, LinuxHost } from '../inventory/inventory.ts';
import { isUndoable } from '../kubeadm/marker.facts.ts';
import { ofCluster, within } from '../shell/decode.ts';
import type { Watches } from '../shell/watched.ts';
import { type Fleet, linuxFacts, observedLinux } from './fleet/fleet.ts';
import { isControlPlane } from './fleet/joined.ts';
import type { LinuxFacts } from './fleet/linux.ts';
import type { ClusterUp } from './fleet/view.ts';
import { isMemberOf } from './members.ts';
import { casOf, clustersOf, type Seen, shareCa, type Standing } from './standings.ts';

interface SeenMember extends Omit<Seen, 'facts'> {
  readonly facts: Pick<LinuxFacts, 'marker' | 'etcdToken' | 'etcdFolder' | 'kubernetesTraces'>;
}

/**
 * The standing of a host of role etcd. The token in its manifest names its cluster. etcd itself reports whether the
 * member votes; while etcd does not answer, a host with complete files counts as joined.
 */
function etcdStanding({ inventory, host, facts, fleet }: SeenMember): Standing {
  const { marker, etcdToken, etcdFolder, kubernetesTraces } = facts;
  if (etcdToken !== 'absent' && etcdToken !== inventory.name) return 'foreign';
  const isMarked = isUndoable(marker) && marker.cluster === inventory.name;
  if (etcdToken === 'absent') return isMarked ? 'partial' : 'foreign';
  if (isMarked) return 'partial';
  const { etcd } = fleet.cluster;
  if (etcd?.state !== 'up') return 'joined';
  const isVoter = etcd.members.some((member) => isMemberOf(host)(member) && member.name !== '' && !member.learner);
  return isVoter && kubernetesTraces.has(`${etcdFolder}/member`) ? 'joined' : 'partial';
}

const KUBELET_CONF = '/etc/kubernetes/kubelet.conf';

/** What is left where an init came to its last phases: only the API tells whether it ended. */
const LATE_INIT = 'its init came as far as the certificate that the kubelet renews';

/** Names of the other hosts that have this host's CA and a kubelet's kubeconfig. */
function joinedToItsCa({ host, facts, fleet }: Seen): readonly string[] {
  if (facts.caFingerprint === 'absent') return [];
  return fleet.hosts
    .filter((other) => other.host.name !== host.name && shareCa(casOf(other.facts), casOf(facts)))
    .filter((other) => other.facts.kubernetesTraces.has(KUBELET_CONF))
    .map((other) => other.host.name);
}

/**
 * Why kbuild takes a host with the marker of an unfinished action for one that served before: its data must not be
 * undone. undefined: no evidence.
 * While the API answers, the API's list of members decides. While it does not answer, an init that reached the
 * kubelet's certificate may have served for long, and so may a host to whose CA another host is joined: a power cut can
 * leave the marker behind.
 */
export function evidenceOfService(seen: Seen): string | undefined {
  const { inventory, host, facts, fleet } = seen;
  if (typeof facts.marker !== 'object' || facts.marker.action === 'reset' || host.role === 'etcd') return undefined;
  const { olderThanMarker, kubeletFinalized } =
    'servedBefore' in facts ? facts.servedBefore : { olderThanMarker: [], kubeletFinalized: false };
  if (olderThanMarker.length > 0) return `${olderThanMarker.join(', ')} is older than the marker`;
  if (fleet.cluster.state === 'up' || facts.marker.action !== 'init') return undefined;
  const others = joinedToItsCa(seen);
  if (others.length > 0) return `${others.join(', ')} ${others.length === 1 ? 'is' : 'are'} joined to its CA`;
  // If a signing command signs, kbuild itself puts that certificate there before kubeadm runs.
  return kubeletFinalized && signingAuthority(inventory) === undefined ? LATE_INIT : undefined;
}

/**
 * True if the host's init may have been cut off in its last phases, when the host already looked as if it had served.
 * Until the API answers, such a host counts as joined, though the cluster may lack kube-proxy and CoreDNS.
 */
export const mayLackAddons = (seen: Seen): boolean => evidenceOfService(seen) === LATE_INIT;

/**
 * The package that `standing` observes on every Linux host. On a Windows host, the step that installs kubeadm observes
 * it.
 */
export const STANDING_WATCHES: Watches = { packages: ['kubeadm'] };

/** The kubelet writes this cluster name into its own kubeconfig, whatever the cluster is called. */
const KUBELETS_OWN_NAME = 'default-cluster';

/** The cluster name in a host's kubeconfig files; undefined if they hold none. */
export function clusterNameOf({ kubeconfigCluster }: Pick<LinuxFacts, 'kubeconfigCluster'>): string | undefined {
  if (kubeconfigCluster === 'absent') return undefined;
  const { name } = kubeconfigCluster;
  return name === '' || name === KUBELETS_OWN_NAME ? undefined : name;
}

/** True for a marker of an unfinished init, join or reset of this inventory's cluster. */
export const hasOwnMarker = (inventory: Inventory, { marker }: Pick<LinuxFacts, 'marker'>): boolean =>
  isUndoable(marker) && marker.cluster === inventory.name;

/**
 * CA fingerprints of each cluster that the fleet holds: those of the live cluster, or else those of the control planes
 * whose setup is complete. A cluster has several while its CA is rotated.
 */
function caSets(fleet: Fleet): readonly (readonly string[])[] {
  const { cluster } = fleet;
  if (cluster.state === 'up') return [casOf(cluster)];
  const controls = observedLinux(fleet)
    .filter(({ host, facts }) => host.role === 'control-plane' && isControlPlane(facts.kubernetesTraces))
    .filter(({ facts }) => facts.caFingerprint !== 'absent')
    .map(({ facts }) => ({ cas: casOf(facts) }));
  return clustersOf(controls).map(({ cas }) => cas);
}

/** CA fingerprints of the cluster, or of all clusters if the fleet holds several. */
export const clusterCas = (fleet: Fleet): ReadonlySet<string> => new Set(caSets(fleet).flat());

/** The files that kubeadm's join of a control plane writes before its last phases (control-plane-prepare). */
const CONTROL_PLANE_FILES = [
  ADMIN_CONF,
  ...['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map(
    (name) => `/etc/kubernetes/manifests/${name}.yaml`,
  ),
];

/**
 * True if kubeadm's join of a control plane got so far that only the labels and taint of its role may be missing: its
 * static pods exist, and its member of a stacked etcd votes. The step that labels nodes sets the rest.
 */
function joinIsComplete({ inventory, host, facts }: Seen, { members }: ClusterUp): boolean {
  if (!CONTROL_PLANE_FILES.every((path) => facts.kubernetesTraces.has(path))) return false;
  return inventory.etcd.topology !== 'stacked' || members.some(({ name, learner }) => name === host.name && !learner);
}

/** True if `kubeadm init` finished: the node has its role, and kube-proxy or CoreDNS exists. */
function initIsComplete(inventory: Inventory, cluster: ClusterUp, host: Host): boolean {
  const { nodes, pods, configuration } = cluster;
  if (nodes.some(({ name }) => name !== host.name)) return true;
  if (!nodes.some(({ name, role }) => name === host.name && role === 'control-plane')) return false;
  const disabled = (addon: string) =>
    ofCluster(cluster, 'ClusterConfiguration', () => within(configuration, addon)['disabled'] === true);
  const skipped = (inventory.kubeadm.init['skipPhases'] ?? []) as readonly string[];
  if (skipped.includes('addon')) return true;
  const runs = (app: string) => pods.some(({ labels }) => labels['k8s-app'] === app);
  return (
    (disabled('proxy') || skipped.includes('addon/kube-proxy') || runs('kube-proxy')) &&
    (disabled('dns') || skipped.includes('addon/coredns') || runs('kube-dns'))
  );
}

const isComplete = (seen: Seen, cluster: ClusterUp): boolean => {
  const { inventory, host, facts } = seen;
  return typeof facts.marker === 'object' && facts.marker.action === 'join'
    ? joinIsComplete(seen, cluster)
    : initIsComplete(inventory, cluster, host);
};

/**
 * The standing of a host, from facts. The marker decides only what the facts leave open. Throws `FactError` when a fact
 * that it needs is unknown.
 */
export function standing({ inventory, host, facts, fleet }: Seen): Standing {
  const traces = facts.kubernetesTraces;
  if (traces.size === 0)
    return ('programs' in facts ? facts.programs : facts.packages).has('kubeadm') ? 'prepared' : 'bare';

  if (host.role === 'etcd' && 'etcdToken' in facts) return etcdStanding({ inventory, host, facts, fleet });
  const { cluster } = fleet;
  const cas = clusterCas(fleet);
  const ours = hasOwnMarker(inventory, facts) && evidenceOfService({ inventory, host, facts, fleet }) === undefined;
  const told = clusterNameOf(facts);
  const own = casOf(facts);
  const adopted = inventory.kubernetes.adopt !== undefined && own.includes(inventory.kubernetes.adopt);
  if (told !== undefined && told !== inventory.name && !adopted) return 'foreign';

  const isNode = host.role === 'control-plane' || host.role === 'worker';
  const isMember = traces.has(KUBELET_CONF) && shareCa(own, cas);
  if (cluster.state === 'up') {
    const registered = cluster.nodes.some(({ name }) => name === host.name);
    const unfinished = ours && host.role === 'control-plane' && !isComplete({ inventory, host, facts, fleet }, cluster);
    if (isMember && registered && !unfinished) return 'joined';
    if (ours) return 'partial';
    // An operator deleted the node. The host still belongs to this cluster, unless a marker contradicts or cannot be
    // read.
    const isClaimed =
      facts.marker === 'unreadable' || (facts.marker !== 'absent' && facts.marker.cluster !== inventory.name);
    return isMember && isNode && !isClaimed ? 'joined' : 'foreign';
  }
  if (ours) return 'partial';
  return isMember && caSets(fleet).length === 1 ? 'joined' : 'foreign';
}

/** The host that may run `kubeadm init`, or why no host may: `isUnobserved` if a control plane was not observed. */
type Founder = { readonly host: LinuxHost } | { readonly none: string; readonly isUnobserved?: true };

/**
 * The control plane that creates the cluster: the first of the inventory. There is none if a cluster exists, if a
 * control plane was not observed, or if one of them holds a cluster or foreign leftovers. Throws `FactError` when a
 * fact that it needs is unknown.
 */
export function founder(inventory: Inventory, fleet: Fleet): Founder {
  if (fleet.cluster.state !== 'absent' && !isUnfinished(inventory, fleet)) return { none: 'there is a cluster' };
  for (const host of controlPlanes(inventory)) {
    const facts = linuxFacts(fleet, host);
    if (facts === undefined)
      return { none: `${host.name} was not observed, and may hold the cluster`, isUnobserved: true };
    const found = standing({ inventory, host, facts, fleet });
    if (found === 'joined' || found === 'foreign') return { none: `${host.name} holds a cluster (${found})` };
  }
  const [first] = controlPlanes(inventory);
  return first === undefined ? { none: 'the inventory has no control plane' } : { host: first };
}

/** True if the only cluster found is that of this inventory's unfinished init. */
const isUnfinished = (inventory: Inventory, fleet: Fleet): boolean =>
  observedLinux(fleet)
    .filter(({ host }) => host.role === 'control-plane')
    .some(({ host, facts }) => standing({ inventory, host, facts, fleet }) === 'partial') &&
  !observedLinux(fleet).some(({ host, facts }) => standing({ inventory, host, facts, fleet }) === 'joined');

type OnHost = Pick<Seen, 'inventory' | 'host' | 'fleet'>;

/**
 * Why kbuild may not undo anything on the host yet; undefined if it may. While the API does not answer, kbuild cannot
 * know whether quorum needs the host's etcd, or whether its node is in use. It waits if another host is joined to the
 * cluster, or if a control plane was not observed. On a host of role etcd it waits for etcd.
 */
export function undoObstacle({ inventory, host, fleet }: OnHost): string | undefined {
  if (host.role === 'etcd')
    return fleet.cluster.etcd?.state === 'down'
      ? `etcd does not answer, and may need the data on this host (${fleet.cluster.etcd.reason})`
      : undefined;
  if (fleet.cluster.state !== 'down') return undefined;
  const unseen = controlPlanes(inventory).find(
    (other) => other.name !== host.name && linuxFacts(fleet, other) === undefined,
  );
  if (unseen !== undefined) return `the API does not answer, and ${unseen.name} was not observed`;
  const joined = fleet.hosts.find(
    (other) =>
      other.host.name !== host.name &&
      (other.host.role === 'control-plane' || other.host.role === 'worker') &&
      standing({ inventory, host: other.host, facts: other.facts, fleet }) === 'joined',
  );
  return joined === undefined
    ? undefined
    : `the API does not answer, and ${joined.host.name} is joined to the cluster: ${fleet.cluster.reason}`;
}

/** @throws Refused while kbuild may not undo anything on the host: see `undoObstacle` */
export function refuseUndo(target: OnHost): void {
  const why = undoObstacle(target);
  if (why === undefined) return;
  throw new Refused('unfinished-action', target.host.name, `what is half-finished here is not undone: ${why}`);
}
