import { OPERATOR_NAMESPACE } from '../components/network-plugins/calico.ts';
import type { InventoryWith } from '../components/network-plugins/network-plugin.ts';
import { objectKey } from '../facts/cluster.ts';
import { endpointHost } from '../topology/api-server.ts';
import type { Inventory, JsonObject } from '../model/inventory.ts';
import type { PluginPart } from './part.ts';

/** Calico's CRD for IPAM, where its operator's manifests leave the API of version 3 to the cluster itself (3.32, optional). */
const NATIVE_CRD = 'apiextensions.k8s.io/v1/CustomResourceDefinition//ipamconfigurations.projectcalico.org';

/** The registry, and the path in it if there is one, as the operator wants them. */
function imagesFrom({ network: { calico: settings } }: InventoryWith<'calico'>): JsonObject {
  const { imageRepository } = settings;
  if (imageRepository === undefined) return {};
  const [registry, ...path] = imageRepository.split('/');
  return { registry: `${registry!}/`, ...(path.length === 0 ? {} : { imagePath: path.join('/') }) };
}

/** What the operator does on Windows hosts; it asks for the Service networks as soon as there are some. */
const windowsPart = ({ network }: Inventory): JsonObject =>
  network.windows === undefined
    ? {}
    : {
        serviceCIDRs: [network.serviceSubnet],
        // The folders of the runtime on Windows hosts. The operator puts the drive before them by itself.
        windowsNodes: {
          cniBinDir: '/opt/cni/bin',
          cniConfigDir: '/etc/cni/net.d',
          cniLogDir: '/var/log/calico/cni',
        },
      };

const installation = (inventory: InventoryWith<'calico'>): JsonObject => ({
  apiVersion: 'operator.tigera.io/v1',
  kind: 'Installation',
  metadata: { name: 'default' },
  spec: {
    cni: { type: 'Calico' },
    ...imagesFrom(inventory),
    ...windowsPart(inventory),
    calicoNetwork: {
      linuxDataplane: 'Iptables',
      ...(inventory.network.windows === undefined ? {} : { windowsDataplane: 'HNS' }),
      // Windows hosts know neither BGP beside VXLAN, nor IPIP, nor VXLAN between networks only. Nodes that were made otherwise
      // do not reach them, so it is the same without Windows hosts: they may come later.
      bgp: 'Disabled',
      ipPools: [
        {
          name: 'default-ipv4-ippool',
          cidr: inventory.network.podSubnet,
          blockSize: 26,
          encapsulation: 'VXLAN',
          natOutgoing: 'Enabled',
          nodeSelector: 'all()',
        },
      ],
      // The host's internalAddress: the kubelet says it by --node-ip.
      nodeAddressAutodetectionV4: { kubernetes: 'NodeInternalIP' },
    },
  },
});

/** Without it Linux nodes borrow addresses of Windows nodes, whose Calico then refuses to start. */
function strictAffinity({ network: { manifests } }: Inventory): JsonObject {
  const keys = manifests.flatMap(({ objects }) => objects).map(objectKey);
  return {
    ...(keys.includes(NATIVE_CRD)
      ? { apiVersion: 'projectcalico.org/v3', kind: 'IPAMConfiguration' }
      : { apiVersion: 'crd.projectcalico.org/v1', kind: 'IPAMConfig' }),
    metadata: { name: 'default' },
    spec: { strictAffinity: true, autoAllocateBlocks: true },
  };
}

/** Where Calico's pods find the API: Service addresses are not reached from a Windows host, and kube-proxy may come later. */
const endpoint = ({ endpoint: at }: Inventory): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'kubernetes-services-endpoint', namespace: OPERATOR_NAMESPACE },
  data: {
    KUBERNETES_SERVICE_HOST: endpointHost(at),
    KUBERNETES_SERVICE_PORT: at.slice(at.lastIndexOf(':') + 1),
  },
});

/** The objects that tell Calico's operator what to install. Never run: its images are not available in our lab. */
export const calicoObjects = (inventory: InventoryWith<'calico'>): readonly JsonObject[] => [
  endpoint(inventory),
  installation(inventory),
  strictAffinity(inventory),
];

const fileName = (source: string): string => source.split('/').at(-1)!;

/** Calico's operator, as its project publishes it: with the kinds of the objects that follow. */
export const calicoOperator: PluginPart<'calico'> = {
  name: 'calico-operator',
  manifest: ({ network: { manifests } }) => ({
    title: `the operator of Calico (${manifests.map(({ source }) => fileName(source)).join(', ')})`,
    objects: manifests.flatMap(({ objects }) => objects),
    compare: 'hash',
  }),
};

/** Calico in the cluster. Its operator completes these objects, so kbuild compares the hash of what it applied. */
export const calico: PluginPart<'calico'> = {
  name: 'calico',
  manifest: (inventory) => ({ title: 'Calico (VXLAN)', objects: calicoObjects(inventory), compare: 'hash' }),
};
