import type { Inventory } from '../../../model/inventory.ts';
import type { JsonObject } from '../../../shell/decode.ts';
import { windowsHosts } from '../../../topology/select.ts';

const RBAC = 'rbac.authorization.k8s.io';

const binding = (inventory: Inventory, name: string, role: string): JsonObject => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
  subjects: windowsHosts(inventory).map((host) => ({ apiGroup: RBAC, kind: 'User', name: `system:node:${host.name}` })),
});

/**
 * ClusterRoleBindings for flanneld and kube-proxy as services. They have no ServiceAccount and use the kubelet's
 * certificate, so they act as their node. A node may read little about other nodes: each Windows node gets the missing
 * rights by name.
 */
export const nodeAccess = (inventory: Inventory): readonly JsonObject[] => [
  binding(inventory, 'kbuild-windows-flannel', 'flannel'),
  binding(inventory, 'kbuild-windows-kube-proxy', 'system:node-proxier'),
];
