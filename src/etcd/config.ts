import { hostPort } from '../inventory/addresses.ts';
import { etcdHosts } from '../inventory/hosts.ts';
import type { Argument, Inventory, LinuxHost } from '../inventory/inventory.ts';
import { mergedArguments } from '../inventory/merge.ts';
import { criEndpoint } from '../runtime/runtimes.value.ts';
import type { JsonObject } from '../shell/decode.ts';

const KUBEADM = 'kubeadm.k8s.io/v1beta4';

/** The peer URL of a host's etcd member. */
export const peerUrl = ({ internalAddress }: Pick<LinuxHost, 'internalAddress'>): string =>
  `https://${hostPort(internalAddress, 2380)}`;

/** The members with which an etcd member starts: all hosts of a new etcd, or the existing members and itself. */
export interface InitialCluster {
  readonly state: 'new' | 'existing';
  /** `name=peer URL,…` */
  readonly members: string;
}

/** The members of a new etcd on all hosts of role etcd. */
export const newCluster = (inventory: Inventory): InitialCluster => ({
  state: 'new',
  members: etcdHosts(inventory)
    .map((host) => `${host.name}=${peerUrl(host)}`)
    .join(','),
});

/** The inventory's settings of a local etcd. They apply to the hosts of role etcd. */
function ownSettings({ kubeadm }: Inventory): JsonObject & { readonly extraArgs?: readonly Argument[] } {
  const etcd = kubeadm.cluster['etcd'] as { readonly local?: JsonObject } | undefined;
  return etcd?.local ?? {};
}

/**
 * kubeadm's documents for a host of role etcd, as in the guide "Set up a High Availability etcd Cluster with kubeadm".
 * The token is the cluster's name: kbuild later reads from it to which cluster the host's etcd belongs.
 * `certificatesDir`: where kubeadm creates certificates; etcd uses them from /etc/kubernetes/pki.
 */
export function etcdDocuments(
  inventory: Inventory,
  host: LinuxHost,
  { initial, certificatesDir }: { readonly initial?: InitialCluster; readonly certificatesDir?: string } = {},
): readonly JsonObject[] {
  const { kubernetes, name } = inventory;
  const own = ownSettings(inventory);
  const extraArgs = mergedArguments(own.extraArgs ?? [], [
    { name: 'initial-cluster-token', value: name },
    ...(initial === undefined
      ? []
      : [
          { name: 'initial-cluster', value: initial.members },
          { name: 'initial-cluster-state', value: initial.state },
        ]),
  ]);
  return [
    {
      apiVersion: KUBEADM,
      kind: 'InitConfiguration',
      nodeRegistration: { name: host.name, criSocket: criEndpoint(inventory, host) },
      localAPIEndpoint: { advertiseAddress: host.internalAddress },
    },
    {
      apiVersion: KUBEADM,
      kind: 'ClusterConfiguration',
      clusterName: name,
      kubernetesVersion: `v${kubernetes.version}`,
      imageRepository: kubernetes.imageRepository,
      ...(certificatesDir === undefined ? {} : { certificatesDir }),
      etcd: { local: { ...own, extraArgs } },
    },
  ];
}
