import { Refused } from '../errors.ts';
import { controlPlanes, WINDOWS_TAINT } from '../inventory/hosts.ts';
import type { Host, Inventory, LinuxHost, Taint } from '../inventory/inventory.ts';
import { objectOf, textsIn } from '../shell/decode.ts';
import { type Fleet, linuxFacts } from './fleet/fleet.ts';
import type { LinuxFacts } from './fleet/linux.ts';
import { NODE_ANNOTATION } from './fleet/ownership.ts';
import type { ClusterUp, NodeView, PodView } from './fleet/view.ts';
import { membersOf } from './members.ts';
import { standing } from './standing.ts';
import type { Seen } from './standings.ts';

/** Labels that kubeadm's phase mark-control-plane sets (its constants.go); the first is the node's role. */
export const CONTROL_PLANE_LABELS = [
  'node-role.kubernetes.io/control-plane',
  'node.kubernetes.io/exclude-from-external-load-balancers',
] as const;

/**
 * True for a node that runs an API server or has the role: an interrupted join or an operator may have left no label.
 */
const isControlPlaneNode = (
  { pods }: Pick<ClusterUp, 'pods'>,
  { name, role }: Pick<NodeView, 'name' | 'role'>,
): boolean =>
  role === 'control-plane' ||
  pods.some(({ node, labels }) => node === name && labels['component'] === 'kube-apiserver');

/** The control-plane nodes of the cluster, with or without the label of the role. */
export const controlPlaneNodes = (cluster: Pick<ClusterUp, 'nodes' | 'pods'>): readonly NodeView[] =>
  cluster.nodes.filter((node) => isControlPlaneNode(cluster, node));

const MARKS: ReadonlySet<unknown> = new Set([
  'mark-control-plane',
  'control-plane-join',
  'control-plane-join/mark-control-plane',
]);

/** True if kubeadm labels and taints control planes: the default, which the inventory can switch off. */
export function marksControlPlanes({ kubeadm }: Pick<Inventory, 'kubeadm'>): boolean {
  const skipped = [kubeadm.init, kubeadm.join].flatMap(
    (settings) => (settings['skipPhases'] ?? []) as readonly unknown[],
  );
  return !skipped.some((phase) => MARKS.has(phase));
}

/**
 * True for a joined host whose Node object was deleted. False while no API answers. Throws `FactError` when a fact that
 * it needs is unknown.
 */
export function isNodeGone(seen: Seen): boolean {
  const { host, fleet } = seen;
  const { cluster } = fleet;
  if (cluster.state !== 'up' || cluster.nodes.some(({ name }) => name === host.name)) return false;
  return standing(seen) === 'joined';
}

/** The pods of the system namespaces that are bound to the host's node. */
export const clusterPods = ({ host, fleet: { cluster } }: Seen): readonly PodView[] =>
  cluster.state === 'up' ? cluster.pods.filter(({ node }) => node === host.name) : [];

/**
 * Annotation of a node that kbuild has drained completely. Without it, an interrupted drain continues. Its value is the
 * time of the cordon's taint (`cordonedAt`), which names this cordon and no later one; `true` where the taint had no
 * time yet, and from older versions of kbuild.
 */
export const DRAINED = 'kbuild.dev/drained';

/**
 * Annotation of a node that kbuild's drain has cordoned, written together with the cordon: an operator's cordon stays.
 * Its value is the time of the control plane then; `true` from older versions of kbuild.
 */
export const CORDONED = 'kbuild.dev/cordoned';

/**
 * Annotation of a node that kbuild has cordoned: the workloads with pods there, `Kind/namespace/name=ready pods`, until
 * they are back.
 */
export const WORKLOADS = 'kbuild.dev/workloads';

/** The taint of a cordoned node. The controller manager sets and removes it, and no pod is placed while it stands. */
export const CORDON_TAINT = 'node.kubernetes.io/unschedulable';

type Noted = Pick<NodeView, 'annotations'>;

/** A node with what tells whether its notes are about its present cordon. */
type Cordoned = Pick<NodeView, 'annotations' | 'unschedulable' | 'cordonedAt'>;

/**
 * How long after kbuild's cordon the controller manager may taint the node for it, in ms. Another controller manager
 * becomes the leader within a minute, and clocks of control planes may differ a little.
 */
const TAINT_LAG_MS = 10 * 60_000;

/**
 * True while the cordon that kbuild noted may be the present one: no later cordon has a taint. A note without a time
 * counts only where the drain's note names this cordon, or the taint has no time: elsewhere the node may have been
 * uncordoned, and cordoned again, since an older kbuild wrote it.
 */
function isNotedCordon({ annotations, cordonedAt }: Cordoned): boolean {
  const noted = annotations[CORDONED];
  if (noted === undefined) return false;
  if (cordonedAt === '' || annotations[DRAINED] === cordonedAt) return true;
  return Date.parse(cordonedAt) <= Date.parse(noted) + TAINT_LAG_MS;
}

/**
 * True for a node that kbuild has drained, and that does not take pods again yet. False once it was uncordoned, though
 * the note is left: pods came back, also if it was cordoned again since.
 */
export function isDrained(node: Cordoned): boolean {
  const { annotations, unschedulable, cordonedAt } = node;
  const noted = annotations[DRAINED];
  if (!unschedulable || noted === undefined) return false;
  return cordonedAt === '' || noted === cordonedAt || (noted === 'true' && isNotedCordon(node));
}

/**
 * True for a node with the notes of a drain whose cordon is no more, or may be no more: an operator uncordoned it, and
 * may have cordoned it again.
 */
export const hasStaleNotes = (node: Cordoned): boolean =>
  (DRAINED in node.annotations && !isDrained(node)) ||
  (CORDONED in node.annotations && !(node.unschedulable && isNotedCordon(node)));

/**
 * Who cordoned a cordoned node. `unknown`: an older kbuild noted that it cordoned the node, and the note does not tell
 * whether the cordon is still that one.
 */
export function cordonOwner(node: Cordoned): 'kbuild' | 'operator' | 'unknown' {
  const { [CORDONED]: cordoned, [DRAINED]: drained = 'true' } = node.annotations;
  if (cordoned === undefined) return 'operator';
  if (!hasStaleNotes(node)) return 'kbuild';
  return cordoned === 'true' && drained === 'true' ? 'unknown' : 'operator';
}

/** True for a node whose workloads are not all back since kbuild has cordoned it. */
export const isMissed = ({ annotations }: Noted): boolean => WORKLOADS in annotations;

/** True for a node with a note of kbuild's drain, which a run that was cut off may have left. */
export const isNoted = (node: Noted | undefined): boolean =>
  node !== undefined && [DRAINED, CORDONED, WORKLOADS].some((note) => note in node.annotations);

/**
 * True for a control plane that was removed from the cluster while it was off (`remove --dead`) and boots again. Its
 * etcd can never join again, and its load balancer still claims the virtual address. Throws `FactError` when a fact
 * that it needs is unknown.
 */
export function hasReturned(inventory: Inventory, fleet: Fleet, host: LinuxHost, facts: LinuxFacts): boolean {
  const { cluster } = fleet;
  if (host.role !== 'control-plane' || inventory.etcd.topology !== 'stacked' || cluster.state !== 'up') return false;
  return isNodeGone({ inventory, host, facts, fleet }) && membersOf(cluster, host).length === 0;
}

/** What `reset` stops first on such a host: it may hold the virtual address beside another one. */
const STOPPED_FIRST: Readonly<Record<Inventory['loadBalancer']['kind'], string>> = {
  keepalived: ', keepalived and haproxy first',
  'kube-vip': ', kube-vip first',
  external: '',
  local: ', haproxy first',
  none: '',
};

/** Refuses control planes that came back after their removal: `up` neither deletes their data nor can use it. */
export const returnedHosts = (inventory: Inventory, fleet: Fleet): readonly Refused<'host-returned'>[] =>
  controlPlanes(inventory).flatMap((host) => {
    const facts = linuxFacts(fleet, host);
    if (facts === undefined || !hasReturned(inventory, fleet, host, facts)) return [];
    return [
      new Refused(
        'host-returned',
        host.name,
        'it was removed from the cluster and came back with what it had: its node and its etcd member are gone',
        `\`kbuild reset --hosts ${host.name}\` cleans it${STOPPED_FIRST[inventory.loadBalancer.kind]}; then ` +
          '`kbuild up` joins it again',
      ),
    ];
  });

/** kubeadm's default taint of a control plane (its constants.go). */
export const CONTROL_PLANE_TAINT: Taint = { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' };

/**
 * What kbuild set on a node and removes when the inventory no longer has it: names of labels, and `key:effect` of
 * taints.
 */
export interface Applied {
  readonly labels: readonly string[];
  readonly taints: readonly string[];
}

/** A taint's identity on a node. */
export const taintId = ({ key, effect }: Taint): string => `${key}:${effect}`;

/** A taint as kubectl writes it. */
export const taintText = ({ key, value, effect }: Taint): string =>
  `${key}${value === undefined ? '' : `=${value}`}:${effect}`;

/** The desired taints of a host's node. */
export const wantedTaints = ({ os, role, taints }: Host): readonly Taint[] =>
  taints ?? (role === 'control-plane' ? [CONTROL_PLANE_TAINT] : os === 'windows' ? [WINDOWS_TAINT] : []);

/** The parsed annotation. If it is corrupt, kbuild removes no label and no taint. */
export function appliedOf(node: NodeView | undefined): Applied {
  try {
    const { labels, taints } = objectOf(JSON.parse(node?.annotations[NODE_ANNOTATION] ?? '{}'));
    return { labels: textsIn(labels), taints: textsIn(taints) };
  } catch {
    return { labels: [], taints: [] };
  }
}

/**
 * Taints that Kubernetes itself sets and removes: for node conditions, for a cordon, and until a cloud controller has
 * initialized the node (kubernetes.io, "Well-Known Labels, Annotations and Taints"). Not `out-of-service`: an operator
 * sets it.
 */
const OF_KUBERNETES: ReadonlySet<string> = new Set([
  ...['not-ready', 'unreachable', 'memory-pressure', 'disk-pressure', 'pid-pressure'].map(
    (name) => `node.kubernetes.io/${name}`,
  ),
  'node.kubernetes.io/network-unavailable',
  'node.kubernetes.io/unschedulable',
  'node.cloudprovider.kubernetes.io/uninitialized',
  'node.cloudprovider.kubernetes.io/shutdown',
]);

/** Key of the taint of a worker that `upgrade` has yet to drain; it takes it away again. */
export const OLD_WORKER = 'kbuild.dev/old-version';

/**
 * Taints of a node that neither the inventory nor Kubernetes explains. A taint that kbuild set before and will remove
 * is a pending change, not unexpected. `host`: undefined for a node that the inventory does not contain.
 */
export function unexpectedTaints(host: Host | undefined, node: NodeView): readonly Taint[] {
  const known = new Set([
    ...[CONTROL_PLANE_TAINT, WINDOWS_TAINT, ...(host === undefined ? [] : wantedTaints(host))].map(taintId),
    ...appliedOf(node).taints,
  ]);
  return node.taints.filter(
    (taint) => !OF_KUBERNETES.has(taint.key) && taint.key !== OLD_WORKER && !known.has(taintId(taint)),
  );
}
