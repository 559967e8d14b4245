import { controlPlanes } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { hostPatches } from '../kubeadm/kubelet-config.ts';
import type { JsonObject } from '../shell/decode.ts';
import { configuredFlags } from './settings-places.ts';
import type { ManifestFlag } from './view-parts.facts.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/**
 * Flags that kubeadm writes itself (1.34 to 1.37: cmd/kubeadm/app/phases/controlplane/manifests.go and
 * phases/etcd/local.go).
 */
const KUBEADM: Readonly<Record<string, ReadonlySet<string>>> = {
  'kube-apiserver': words(`advertise-address allow-privileged authorization-mode client-ca-file enable-admission-plugins
    enable-bootstrap-token-auth etcd-cafile etcd-certfile etcd-keyfile etcd-servers kubelet-client-certificate
    kubelet-client-key kubelet-preferred-address-types proxy-client-cert-file proxy-client-key-file
    requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix
    requestheader-group-headers requestheader-username-headers secure-port service-account-issuer
    service-account-key-file service-account-signing-key-file service-cluster-ip-range tls-cert-file
    tls-private-key-file`),
  'kube-controller-manager': words(`allocate-node-cidrs authentication-kubeconfig authorization-kubeconfig bind-address
    client-ca-file cluster-cidr cluster-name cluster-signing-cert-file cluster-signing-key-file controllers kubeconfig
    leader-elect requestheader-client-ca-file root-ca-file service-account-private-key-file service-cluster-ip-range
    use-service-account-credentials`),
  'kube-scheduler': words('authentication-kubeconfig authorization-kubeconfig bind-address kubeconfig leader-elect'),
  etcd: words(`advertise-client-urls cert-file client-cert-auth data-dir experimental-initial-corrupt-check
    experimental-watch-progress-notify-interval feature-gates initial-advertise-peer-urls initial-cluster
    initial-cluster-state key-file listen-client-urls listen-metrics-urls listen-peer-urls name peer-cert-file
    peer-client-cert-auth peer-key-file peer-trusted-ca-file snapshot-count trusted-ca-file
    watch-progress-notify-interval`),
};

/** A flag that stands in the manifests of these nodes, and that kubeadm does not write again. */
interface HandWritten {
  readonly component: string;
  readonly flag: string;
  readonly nodes: readonly string[];
}

/**
 * Flags that kubeadm takes away with the next version: neither its own, nor of the cluster's configuration. Components
 * that a patch of the inventory changes on the host are left out: the patch is applied again. Nothing but names of
 * flags is compared.
 */
export function handWritten(
  inventory: Inventory,
  configuration: JsonObject,
  flags: readonly ManifestFlag[],
): readonly HandWritten[] {
  const patched = new Map(
    controlPlanes(inventory).map((host) => [host.name, Object.keys(hostPatches(inventory, host))] as const),
  );
  const found = new Map<string, { component: string; flag: string; nodes: string[] }>();
  for (const { node, component, flag } of flags) {
    const own = KUBEADM[component];
    if (own === undefined || own.has(flag) || configuredFlags(configuration, component).includes(flag)) continue;
    if (patched.get(node)?.some((name) => name.startsWith(component)) === true) continue;
    const key = `${component} ${flag}`;
    const one = found.get(key) ?? { component, flag, nodes: [] };
    found.set(key, one);
    one.nodes.push(node);
  }
  return [...found.values()];
}
