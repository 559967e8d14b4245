import type { Inventory, JsonObject } from '../../../model/inventory.ts';
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
 * flanneld and kube-proxy as services have no ServiceAccount: they act as the node that they are on, by the kubelet's own
 * certificate. A node may read little of others; what the two need beyond it is given to each Windows node by name.
 */
export const nodeAccess = (inventory: Inventory): readonly JsonObject[] => [
  binding(inventory, 'kbuild-windows-flannel', 'flannel'),
  binding(inventory, 'kbuild-windows-kube-proxy', 'system:node-proxier'),
];
