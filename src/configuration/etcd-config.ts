import type { Argument, Inventory, JsonObject, LinuxHost } from '../model/inventory.ts';
import { criEndpoint } from '../components/runtimes/index.ts';
import { mergedArguments } from '../model/merge.ts';
import { etcdHosts } from '../topology/select.ts';

const KUBEADM = 'kubeadm.k8s.io/v1beta4';

/** Where the peers of a member reach it. */
export const peerUrl = ({ internalAddress }: Pick<LinuxHost, 'internalAddress'>): string =>
  `https://${internalAddress}:2380`;

/** With whom a member starts: all hosts of a new etcd, or the members that are there and itself. */
export interface InitialCluster {
  readonly state: 'new' | 'existing';
  /** `name=peer URL,…` */
  readonly members: string;
}

/** The members of an etcd that is made of all hosts of role etcd at once. */
export const newCluster = (inventory: Inventory): InitialCluster => ({
  state: 'new',
  members: etcdHosts(inventory)
    .map((host) => `${host.name}=${peerUrl(host)}`)
    .join(','),
});

/** The user's own settings of a local etcd: here they are those of the hosts of role etcd. */
function ownSettings({ kubeadm }: Inventory): JsonObject & { readonly extraArgs?: readonly Argument[] } {
  const etcd = kubeadm.cluster['etcd'] as { readonly local?: JsonObject } | undefined;
  return etcd?.local ?? {};
}

/**
 * What kubeadm is told on a host of role etcd: the documents of its guide "Set up a High Availability etcd Cluster with
 * kubeadm". The token is the cluster's name, by which the host tells later whose etcd it runs. `certificatesDir`: where
 * certificates are made; they are used from /etc/kubernetes/pki.
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
      nodeRegistration: { name: host.name, criSocket: criEndpoint(inventory) },
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
