import { WINDOWS_TAINT } from '../inventory/hosts.ts';
import type { Host, Taint } from '../inventory/inventory.ts';
import { objectOf, textsIn } from '../shell/decode.ts';
import { NODE_ANNOTATION } from './fleet/ownership.ts';
import type { NodeView } from './fleet/view.ts';

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
