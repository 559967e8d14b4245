import { objectKey } from '../facts/cluster.ts';
import { endpointHost } from '../topology/api-server.ts';
import type { Calico, Inventory, JsonObject } from '../model/inventory.ts';
import { manifest, type Manifest } from '../resources/manifest.ts';

/** Calico's CRD for IPAM, where its operator's manifests leave the API of version 3 to the cluster itself (3.32, optional). */
const NATIVE_CRD = 'apiextensions.k8s.io/v1/CustomResourceDefinition//ipamconfigurations.projectcalico.org';

/** The registry, and the path in it if there is one, as the operator wants them. */
function imagesFrom({ imageRepository }: Calico): JsonObject {
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
        // Those of kbuild's containerd. The operator puts the drive before them by itself.
        windowsNodes: {
          cniBinDir: '/opt/cni/bin',
          cniConfigDir: '/etc/cni/net.d',
          cniLogDir: '/var/log/calico/cni',
        },
      };

const installation = (inventory: Inventory, calico: Calico): JsonObject => ({
  apiVersion: 'operator.tigera.io/v1',
  kind: 'Installation',
  metadata: { name: 'default' },
  spec: {
    cni: { type: 'Calico' },
    ...imagesFrom(calico),
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
function strictAffinity({ operator }: Calico): JsonObject {
  const keys = operator.flatMap(({ objects }) => objects).map(objectKey);
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
  metadata: { name: 'kubernetes-services-endpoint', namespace: 'tigera-operator' },
  data: {
    KUBERNETES_SERVICE_HOST: endpointHost(at),
    KUBERNETES_SERVICE_PORT: at.slice(at.lastIndexOf(':') + 1),
  },
});

/** What Calico's operator shall make. Not run: its images cannot be had where kbuild is developed. */
export const calicoObjects = (inventory: Inventory, calico: Calico): readonly JsonObject[] => [
  endpoint(inventory),
  installation(inventory, calico),
  strictAffinity(calico),
];

const fileName = (source: string): string => source.split('/').at(-1)!;

/** Calico's operator, as its project publishes it; undefined with another plugin, or where nothing was read. */
export function calicoOperatorManifest({ network: { calico } }: Inventory): Manifest | undefined {
  if (calico === undefined) return undefined;
  return {
    title: `the operator of Calico (${calico.operator.map(({ source }) => fileName(source)).join(', ')})`,
    objects: calico.operator.flatMap(({ objects }) => objects),
    compare: 'hash',
  };
}

/** Calico; undefined with another plugin. The operator completes these objects, so what was applied is compared. */
export function calicoManifest(inventory: Inventory): Manifest | undefined {
  const { calico } = inventory.network;
  if (calico === undefined) return undefined;
  return { title: 'Calico (VXLAN)', objects: calicoObjects(inventory, calico), compare: 'hash' };
}

/** Calico's operator in the cluster: with the kinds of what follows. */
export const calicoOperator = manifest('calico-operator', calicoOperatorManifest);

/** Calico in the cluster. */
export const calico = manifest('calico', calicoManifest);
