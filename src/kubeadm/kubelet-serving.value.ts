import type { Host } from '../inventory/inventory.ts';
import { mergedArguments, type Named } from '../inventory/merge.ts';
import type { JsonObject } from '../shell/decode.ts';

/**
 * True for a node whose kubelet is to serve with a certificate that the cluster signs (KubeletConfiguration,
 * `serverTLSBootstrap`).
 */
export const servesByCluster = ({ role, kubelet }: Pick<Host, 'role' | 'kubelet'>): boolean =>
  (role === 'control-plane' || role === 'worker') && kubelet.config['serverTLSBootstrap'] === true;

/** The API server's flag by which it verifies the certificates of kubelets. Without it any certificate is accepted. */
export const KUBELET_AUTHORITY = {
  name: 'kubelet-certificate-authority',
  value: '/etc/kubernetes/pki/ca.crt',
} as const;

const argumentsOf = (cluster: JsonObject | undefined): readonly Named[] => {
  const found = (cluster?.['apiServer'] as JsonObject | undefined)?.['extraArgs'];
  return Array.isArray(found) ? (found as readonly Named[]) : [];
};

/** True if `kubeadm.cluster` gives API servers the flag, with whatever value. */
export const hasKubeletAuthority = (cluster: JsonObject | undefined): boolean =>
  argumentsOf(cluster).some(({ name }) => name === KUBELET_AUTHORITY.name);

const without = (object: JsonObject, key: string): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));

function withArguments(cluster: JsonObject, extraArgs: readonly Named[]): JsonObject {
  const others = without((cluster['apiServer'] ?? {}) as JsonObject, 'extraArgs');
  const apiServer = extraArgs.length === 0 ? others : { ...others, extraArgs };
  return Object.keys(apiServer).length === 0 ? without(cluster, 'apiServer') : { ...cluster, apiServer };
}

/**
 * True if the kubelet of every node is to serve with a certificate of the cluster: API servers could not connect to a
 * kubelet with another certificate.
 */
export function areAllServedByCluster(hosts: readonly Pick<Host, 'role' | 'kubelet'>[]): boolean {
  const nodes = hosts.filter(({ role }) => role === 'control-plane' || role === 'worker');
  return nodes.length > 0 && nodes.every(servesByCluster);
}

/**
 * `kubeadm.cluster` with the flag, if every node's kubelet serves with a certificate of the cluster. Keeps a value that
 * the inventory gives.
 */
export function withKubeletAuthority(
  cluster: JsonObject,
  hosts: readonly Pick<Host, 'role' | 'kubelet'>[],
): JsonObject {
  if (!areAllServedByCluster(hosts)) return cluster;
  return withArguments(cluster, mergedArguments([KUBELET_AUTHORITY], argumentsOf(cluster)));
}

/** `kubeadm.cluster` without the flag. */
export const withoutKubeletAuthority = (cluster: JsonObject): JsonObject =>
  hasKubeletAuthority(cluster)
    ? withArguments(
        cluster,
        argumentsOf(cluster).filter(({ name }) => name !== KUBELET_AUTHORITY.name),
      )
    : cluster;
