import { signingAuthority } from '../certificates/signing-command.value.ts';
import { addressesOf, endpointHost } from '../inventory/addresses.ts';
import { apiPort } from '../inventory/api-server.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Argument, Inventory, LinuxHost } from '../inventory/inventory.ts';
import { merged, mergedArguments } from '../inventory/merge.ts';
import { paths } from '../paths.ts';
import { criEndpoint } from '../runtime/runtimes.value.ts';
import type { JsonObject } from '../shell/decode.ts';
import type { Secret } from '../shell/secret.ts';
import { hostPatches, sharedKubeletConfig } from './kubelet-config.ts';

const KUBEADM = 'kubeadm.k8s.io/v1beta4';

/** The description of kbuild's bootstrap tokens begins with this text. */
export const TOKEN_DESCRIPTION = 'kbuild';

/** kubeadm always creates a token at init. This one is short-lived, and the job deletes it. */
const INIT_TOKEN = {
  description: `${TOKEN_DESCRIPTION} init`,
  ttl: '30m0s',
  usages: ['signing', 'authentication'],
  groups: ['system:bootstrappers:kubeadm:default-node-token'],
};

/** The kubelet's arguments on a host: the node's addresses, the primary one first, and the inventory's arguments. */
export const kubeletArguments = (host: LinuxHost): readonly Argument[] =>
  mergedArguments([{ name: 'node-ip', value: addressesOf(host).join(',') }], host.kubelet.extraArgs);

/** Settings of a node that init and join share. Without `taints` kubeadm uses its default for the role. */
const nodeRegistration = (inventory: Inventory, host: LinuxHost): JsonObject => ({
  name: host.name,
  // If a host has several sockets, kubeadm does not choose one.
  criSocket: criEndpoint(inventory, host),
  kubeletExtraArgs: kubeletArguments(host),
  ...(host.taints === undefined ? {} : { taints: host.taints }),
});

/** The setting that names kubeadm's patches folder of a host; empty for a host without patches. */
export const patches = (inventory: Inventory, host: LinuxHost): JsonObject =>
  Object.keys(hostPatches(inventory, host)).length === 0 ? {} : { patches: { directory: paths.kubeadmPatches } };

const localApiEndpoint = (inventory: Inventory, host: LinuxHost): JsonObject => ({
  advertiseAddress: host.internalAddress,
  bindPort: apiPort(inventory),
});

/** kubeadm's InitConfiguration for the host that creates the cluster. `certificateKey`: 64 hexadecimal digits. */
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

/**
 * If kbuild builds etcd on hosts of role etcd, the inventory's settings of etcd apply there: see `src/etcd/config.ts`.
 */
function withoutLocalEtcd({ etcd }: Inventory, cluster: JsonObject): JsonObject {
  const own = cluster['etcd'];
  if (etcd.topology !== 'built' || typeof own !== 'object' || own === null) return cluster;
  return { ...cluster, etcd: Object.fromEntries(Object.entries(own).filter(([key]) => key !== 'local')) };
}

/** `apiServer.certSANs` of settings for kubeadm. */
export const namesIn = (settings: JsonObject): readonly string[] =>
  (settings['apiServer'] as { readonly certSANs?: readonly string[] } | undefined)?.certSANs ?? [];

/**
 * Names and addresses at which clients reach every API server: kbuild's own and the inventory's. kbuild's always stay,
 * because without the endpoint's name no kubelet could join.
 */
export const apiServerNames = ({ endpoint, loadBalancer, kubeadm }: Inventory): readonly string[] => [
  ...new Set([
    endpointHost(endpoint),
    ...('address' in loadBalancer ? [loadBalancer.address] : []),
    ...namesIn(kubeadm.cluster),
  ]),
];

/** kubeadm's ClusterConfiguration. */
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
  const certSANs = [...new Set([...apiServerNames(inventory), ...controlPlanes(inventory).flatMap(addressesOf)])];
  return { ...all, apiServer: { ...(all['apiServer'] as JsonObject | undefined), certSANs } };
}

/** KubeProxyConfiguration; undefined when the inventory has no settings for it. */
const kubeProxyConfiguration = ({ kubeadm }: Inventory): JsonObject | undefined =>
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

/** Secrets and the CA hash with which a host joins. */
export interface JoinCredentials {
  /** `abcdef.0123456789abcdef` */
  readonly token: Secret;
  /** `sha256:` + hex of the cluster CA's public key. */
  readonly caHash: string;
  /** For a control plane that fetches the shared certificates from the cluster: 64 hexadecimal digits. */
  readonly certificateKey?: Secret;
  /**
   * A folder with the host's patches and further ones for this join. Without it, kubeadm uses the host's patches
   * folder.
   */
  readonly patches?: string;
}

/**
 * Longer timeouts for a join with signed certificates. The kubelet has its certificate before it starts, so kubeadm
 * does not wait for it (5 min) while the API server starts, and must wait as long afterwards.
 */
const patience = (inventory: Inventory): JsonObject =>
  signingAuthority(inventory) === undefined ? {} : { timeouts: { kubernetesAPICall: '5m0s' } };

/** kubeadm's JoinConfiguration for a worker or a control plane, by the host's role. */
export const joinConfiguration = (
  inventory: Inventory,
  host: LinuxHost,
  { token, caHash, certificateKey, patches: folder }: JoinCredentials,
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
      ...(folder === undefined ? patches(inventory, host) : { patches: { directory: folder } }),
    },
    inventory.kubeadm.join,
  );

/**
 * kubeadm's ResetConfiguration: without confirmation, and without the one-minute wait for an API server that does not
 * answer.
 */
export const resetConfiguration = (inventory: Inventory, host: LinuxHost): JsonObject =>
  merged(
    {
      apiVersion: KUBEADM,
      kind: 'ResetConfiguration',
      criSocket: criEndpoint(inventory, host),
      force: true,
      cleanupTmpDir: true,
      timeouts: { kubernetesAPICall: '10s', etcdAPICall: '30s' },
    },
    inventory.kubeadm.reset,
  );
