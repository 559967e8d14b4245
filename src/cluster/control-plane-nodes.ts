import type { ClusterUp, NodeView } from '../facts/cluster.ts';
import type { Inventory } from '../model/inventory.ts';

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
