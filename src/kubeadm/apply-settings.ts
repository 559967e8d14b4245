import { FIELD_MANAGER } from '../cluster/fleet/ownership.ts';
import { kubectl } from '../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { secretYaml } from '../shell/yaml.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { initDocuments } from './config.ts';

/**
 * The parts that kubeadm's phases change on a live control plane: `pull` pulls images; `cluster` uploads the
 * configuration and writes the manifests of API server, controller manager and scheduler; `manifests` only writes them;
 * `etcd` writes etcd's manifest; `kubelet` uploads the kubelets' configuration; `kubeProxy` and `coredns` apply the
 * addons if the cluster has them.
 */
export type KubeadmPart = 'pull' | 'cluster' | 'manifests' | 'etcd' | 'kubelet' | 'kubeProxy' | 'coredns';

const ORDER: readonly KubeadmPart[] = ['pull', 'cluster', 'manifests', 'etcd', 'kubelet', 'kubeProxy', 'coredns'];

/** The parts without repetition, in the order in which kubeadm applies them; `cluster` includes `manifests`. */
export function inOrder(parts: readonly KubeadmPart[]): readonly KubeadmPart[] {
  const wanted = new Set(parts);
  if (wanted.has('cluster')) wanted.delete('manifests');
  return ORDER.filter((part) => wanted.has(part));
}

/**
 * Applies parts of the inventory's settings on one control plane of a live cluster. Runs as a job, which ends when the
 * changed components are ready there. `note`: the ConfigMap to apply at the end; empty for none. `dnsReplicas`: how
 * many pods of CoreDNS there are before kubeadm deploys it, which keeps their number; undefined: as many as there are.
 * @throws CommandError if kubeadm fails, or a component is not ready within 4 minutes.
 */
export async function applySettings(
  on: On,
  inventory: Inventory,
  host: LinuxHost,
  {
    job = 'kubeadm-settings',
    parts,
    note = '',
    dnsReplicas,
  }: {
    readonly job?: string;
    readonly parts: readonly KubeadmPart[];
    readonly note?: string;
    readonly dnsReplicas?: number | undefined;
  },
): Promise<void> {
  const { proxy } = inventory;
  await on(host).job(
    job,
    script('kubeadm/kubeadm-settings.sh', {
      PARTS: inOrder(parts),
      NODE: host.name,
      KUBECTL: kubectl(inventory, host).join(' '),
      MANAGER: FIELD_MANAGER,
      SETTINGS: note,
      DNS_REPLICAS: dnsReplicas === undefined ? '' : String(dnsReplicas),
      HTTP_PROXY_URL: proxy?.http ?? '',
      HTTPS_PROXY_URL: proxy?.https ?? '',
      NO_PROXY_LIST: proxy?.noProxy.join(',') ?? '',
    }),
    { 'config.yaml': secretYaml(initDocuments(inventory, host)) },
  );
}
