import { NODE_ANNOTATION } from '../facts/ownership.ts';
import type { NodeView } from '../facts/cluster.ts';
import type { Host, Taint } from '../model/inventory.ts';
import { WINDOWS_TAINT } from './windows-kubeadm.ts';

/** kubeadm's taint of a control plane (its constants.go), where the inventory says nothing else. */
export const CONTROL_PLANE_TAINT: Taint = { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' };

/** What kbuild set on a node and would take back: names of labels, and `key:effect` of taints. */
export interface Applied {
  readonly labels: readonly string[];
  readonly taints: readonly string[];
}

/** What identifies a taint on a node. */
export const taintId = ({ key, effect }: Taint): string => `${key}:${effect}`;

/** A taint as kubectl writes it. */
export const taintText = ({ key, value, effect }: Taint): string =>
  `${key}${value === undefined ? '' : `=${value}`}:${effect}`;

/** The taints that a host's node should have from kbuild. */
export const wantedTaints = ({ os, role, taints }: Host): readonly Taint[] =>
  taints ?? (role === 'control-plane' ? [CONTROL_PLANE_TAINT] : os === 'windows' ? [WINDOWS_TAINT] : []);

const strings = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

/** The annotation, as far as it can be read: a corrupt one only means that nothing is taken back. */
export function appliedOf(node: NodeView | undefined): Applied {
  try {
    const { labels, taints } = JSON.parse(node?.annotations[NODE_ANNOTATION] ?? '{}') as Partial<Applied>;
    return { labels: strings(labels), taints: strings(taints) };
  } catch {
    return { labels: [], taints: [] };
  }
}

/**
 * Taints that Kubernetes itself sets and takes away again: by the conditions of a node, for a cordon, and while a cloud's
 * controller has not seen the node (kubernetes.io, "Well-Known Labels, Annotations and Taints"). `out-of-service` is none:
 * an operator sets it.
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

/**
 * Taints of a node that neither the inventory nor Kubernetes explains. What kbuild set before, and would take back, is a
 * pending change and not unexpected. `host`: undefined for a node that the inventory does not name.
 */
export function unexpectedTaints(host: Host | undefined, node: NodeView): readonly Taint[] {
  const known = new Set([
    ...[CONTROL_PLANE_TAINT, WINDOWS_TAINT, ...(host === undefined ? [] : wantedTaints(host))].map(taintId),
    ...appliedOf(node).taints,
  ]);
  return node.taints.filter((taint) => !OF_KUBERNETES.has(taint.key) && !known.has(taintId(taint)));
}
