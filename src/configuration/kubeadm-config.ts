import { criEndpoint } from '../components/runtimes/index.ts';
import { apiPort, endpointHost } from '../topology/api-server.ts';
import type { Argument, Inventory, JsonObject, LinuxHost } from '../model/inventory.ts';
import { merged, mergedArguments } from '../model/merge.ts';
import { controlPlanes } from '../topology/select.ts';
import { paths } from '../paths.ts';
import type { Secret } from '../shell/secret.ts';
import { hostPatches, sharedKubeletConfig } from './kubelet-config.ts';
import { signingAuthority } from './signing.ts';

const KUBEADM = 'kubeadm.k8s.io/v1beta4';

/** Bootstrap tokens that kbuild minted are known by this start of their description. */
export const TOKEN_DESCRIPTION = 'kbuild';

/** kubeadm mints a token at init whether one is wanted or not; this one is short-lived, and deleted by the job. */
const INIT_TOKEN = {
  description: `${TOKEN_DESCRIPTION} init`,
  ttl: '30m0s',
  usages: ['signing', 'authentication'],
  groups: ['system:bootstrappers:kubeadm:default-node-token'],
};

/** The kubelet's arguments on a host: the address of its node, and the inventory's. */
export const kubeletArguments = (host: LinuxHost): readonly Argument[] =>
  mergedArguments([{ name: 'node-ip', value: host.internalAddress }], host.kubelet.extraArgs);

/** Settings of a node that init and join share. `taints` is left out for kubeadm's default of the role. */
const nodeRegistration = (inventory: Inventory, host: LinuxHost): JsonObject => ({
  name: host.name,
  // kubeadm refuses to guess if a host has several.
  criSocket: criEndpoint(inventory),
  kubeletExtraArgs: kubeletArguments(host),
  ...(host.taints === undefined ? {} : { taints: host.taints }),
});

const patches = (inventory: Inventory, host: LinuxHost): JsonObject =>
  Object.keys(hostPatches(inventory, host)).length === 0 ? {} : { patches: { directory: paths.kubeadmPatches } };

const localApiEndpoint = (inventory: Inventory, host: LinuxHost): JsonObject => ({
  advertiseAddress: host.internalAddress,
  bindPort: apiPort(inventory),
});

/** kubeadm's InitConfiguration for the host that founds the cluster. `certificateKey`: 64 hexadecimal digits. */
export const initConfiguration = (
  inventory: Inventory,
  host: LinuxHost,
  secrets: { readonly certificateKey?: Secret } = {},
): JsonObject =>
  merged(
    {
      apiVersion: KUBEADM,
      kind: 'InitConfiguration',
      bootstrapTokens: [INIT_TOKEN],
      nodeRegistration: nodeRegistration(inventory, host),
      localAPIEndpoint: localApiEndpoint(inventory, host),
      ...secrets,
      ...patches(inventory, host),
    },
    inventory.kubeadm.init,
  );

/** Where kbuild builds etcd on hosts of its own, the user's settings of etcd are theirs: see `etcd-config.ts`. */
function withoutLocalEtcd({ etcd }: Inventory, cluster: JsonObject): JsonObject {
  const own = cluster['etcd'];
  if (etcd.topology !== 'built' || typeof own !== 'object' || own === null) return cluster;
  return { ...cluster, etcd: Object.fromEntries(Object.entries(own).filter(([key]) => key !== 'local')) };
}

/** kubeadm's ClusterConfiguration: what the whole cluster shares. */
export function clusterConfiguration(inventory: Inventory): JsonObject {
  const { kubernetes, network, endpoint, kubeadm } = inventory;
  const base = {
    apiVersion: KUBEADM,
    kind: 'ClusterConfiguration',
    clusterName: inventory.name,
    kubernetesVersion: `v${kubernetes.version}`,
    controlPlaneEndpoint: endpoint,
    imageRepository: kubernetes.imageRepository,
    networking: {
      podSubnet: network.podSubnet,
      serviceSubnet: network.serviceSubnet,
      dnsDomain: kubernetes.dnsDomain,
    },
    ...(inventory.etcd.topology === 'stacked'
      ? {}
      : {
          etcd: {
            external: {
              endpoints: inventory.etcd.endpoints,
              caFile: paths.etcdCa,
              certFile: paths.etcdClientCertificate,
              keyFile: paths.etcdClientKey,
            },
          },
        }),
  };
  const all = merged(base, withoutLocalEtcd(inventory, kubeadm.cluster));
  const apiServer = (all['apiServer'] ?? {}) as { readonly certSANs?: readonly string[] };
  // Names of the user's are added to kbuild's, not put in their place: without the endpoint's no kubelet could join.
  const certSANs = [
    ...new Set([
      endpointHost(endpoint),
      ...('address' in inventory.loadBalancer ? [inventory.loadBalancer.address] : []),
      ...controlPlanes(inventory).map(({ internalAddress }) => internalAddress),
      ...(apiServer.certSANs ?? []),
    ]),
  ];
  return { ...all, apiServer: { ...apiServer, certSANs } };
}

/** KubeProxyConfiguration; undefined when the inventory has no settings for it. */
export const kubeProxyConfiguration = ({ kubeadm }: Inventory): JsonObject | undefined =>
  Object.keys(kubeadm.kubeProxy).length === 0
    ? undefined
    : merged({ apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration' }, kubeadm.kubeProxy);

/** All documents of `kubeadm init`. */
export function initDocuments(
  inventory: Inventory,
  host: LinuxHost,
  secrets: { readonly certificateKey?: Secret } = {},
): readonly JsonObject[] {
  const kubeProxy = kubeProxyConfiguration(inventory);
  return [
    initConfiguration(inventory, host, secrets),
    clusterConfiguration(inventory),
    sharedKubeletConfig(inventory),
    ...(kubeProxy === undefined ? [] : [kubeProxy]),
  ];
}

/** What a joining host needs to know and may not tell anybody. */
export interface JoinCredentials {
  /** `abcdef.0123456789abcdef` */
  readonly token: Secret;
  /** `sha256:` + hex of the cluster CA's public key. */
  readonly caHash: string;
  /** For a control plane that fetches the shared certificates from the cluster: 64 hexadecimal digits. */
  readonly certificateKey?: Secret;
}

/**
 * The kubelet has its certificate before it starts, so kubeadm no longer waits for one (5 min) while a control plane's
 * API server starts, and must be as patient afterwards.
 */
const patience = (inventory: Inventory): JsonObject =>
  signingAuthority(inventory) === undefined ? {} : { timeouts: { kubernetesAPICall: '5m0s' } };

/** kubeadm's JoinConfiguration, of a worker or a control plane as the host's role says. */
export const joinConfiguration = (
  inventory: Inventory,
  host: LinuxHost,
  { token, caHash, certificateKey }: JoinCredentials,
): JsonObject =>
  merged(
    {
      apiVersion: KUBEADM,
      kind: 'JoinConfiguration',
      nodeRegistration: nodeRegistration(inventory, host),
      discovery: {
        bootstrapToken: { token, apiServerEndpoint: inventory.endpoint, caCertHashes: [caHash] },
      },
      ...(host.role === 'control-plane'
        ? {
            controlPlane: {
              localAPIEndpoint: localApiEndpoint(inventory, host),
              ...(certificateKey === undefined ? {} : { certificateKey }),
            },
          }
        : {}),
      ...patience(inventory),
      ...patches(inventory, host),
    },
    inventory.kubeadm.join,
  );

/** kubeadm's ResetConfiguration. It never asks, and does not wait a minute for an API server that is gone. */
export const resetConfiguration = (inventory: Inventory): JsonObject =>
  merged(
    {
      apiVersion: KUBEADM,
      kind: 'ResetConfiguration',
      criSocket: criEndpoint(inventory),
      force: true,
      cleanupTmpDir: true,
      timeouts: { kubernetesAPICall: '10s', etcdAPICall: '30s' },
    },
    inventory.kubeadm.reset,
  );
