import { objectKey } from '../cluster/fleet/view.ts';
import {
  eachOf,
  endpointHost,
  endpointParts,
  familiesOf,
  familyOf,
  firstServiceAddress,
} from '../inventory/addresses.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { JsonObject } from '../shell/decode.ts';
import { OPERATOR_NAMESPACE } from './calico.value.ts';
import type { PluginPart } from './plugin.step.ts';
import type { InventoryWith } from './plugin.value.ts';

/**
 * The CRD of Calico's IPAM in the API projectcalico.org/v3, which the operator's manifests may have since Calico 3.32.
 */
const NATIVE_CRD = 'apiextensions.k8s.io/v1/CustomResourceDefinition//ipamconfigurations.projectcalico.org';

/** True where the cluster itself serves the API projectcalico.org/v3. */
const isNative = ({ network: { manifests } }: Inventory): boolean =>
  manifests.flatMap(({ objects }) => objects).some((object) => objectKey(object) === NATIVE_CRD);

/** The operator's fields for the registry and the path in it. */
function imagesFrom({ network: { calico: settings } }: InventoryWith<'calico'>): JsonObject {
  const { imageRepository } = settings;
  if (imageRepository === undefined) return {};
  const [registry, ...path] = imageRepository.split('/');
  return { registry: `${registry!}/`, ...(path.length === 0 ? {} : { imagePath: path.join('/') }) };
}

/** The operator's settings for Windows hosts. */
const windowsPart = ({ network }: Inventory): JsonObject =>
  network.windows === undefined
    ? {}
    : {
        serviceCIDRs: [network.serviceSubnet],
        // The folders of the runtime on Windows hosts, to which the operator adds the drive.
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
      ...(inventory.network.mtu === undefined ? {} : { mtu: inventory.network.mtu }),
      ...(inventory.network.windows === undefined ? {} : { windowsDataplane: 'HNS' }),
      bgp: inventory.network.calico.bgp ? 'Enabled' : 'Disabled',
      ipPools: eachOf(inventory.network.podSubnet).map((cidr) => ({
        name: `default-${familyOf(cidr).toLowerCase()}-ippool`,
        cidr,
        blockSize: familyOf(cidr) === 'IPv6' ? 122 : 26,
        encapsulation: inventory.network.calico.encapsulation,
        natOutgoing: 'Enabled',
        nodeSelector: 'all()',
      })),
      // The host's internalAddress, which the kubelet reports because of --node-ip.
      ...Object.fromEntries(
        familiesOf(inventory).map((family) => [
          `nodeAddressAutodetection${family.slice(2).toUpperCase()}`,
          { kubernetes: 'NodeInternalIP' },
        ]),
      ),
    },
  },
});

/**
 * Calico's IPAM with strictAffinity. Without it Linux nodes borrow addresses of Windows nodes, and Calico refuses to
 * start on such a Windows node.
 */
const strictAffinity = (inventory: Inventory): JsonObject => ({
  ...(isNative(inventory)
    ? { apiVersion: 'projectcalico.org/v3', kind: 'IPAMConfiguration' }
    : { apiVersion: 'crd.projectcalico.org/v1', kind: 'IPAMConfig' }),
  metadata: { name: 'default' },
  spec: { strictAffinity: true, autoAllocateBlocks: true },
});

/** Felix' settings for all nodes, to which Calico adds its own. Without WireGuard too: the object must stay. */
export const felixObject = (inventory: InventoryWith<'calico'>): JsonObject => ({
  apiVersion: isNative(inventory) ? 'projectcalico.org/v3' : 'crd.projectcalico.org/v1',
  kind: 'FelixConfiguration',
  metadata: { name: 'default' },
  spec: Object.fromEntries(
    familiesOf(inventory).map((family) => [
      family === 'IPv6' ? 'wireguardEnabledV6' : 'wireguardEnabled',
      inventory.network.calico.wireguard,
    ]),
  ),
});

/**
 * Where Calico's pods reach the API. Those without the host's network cannot use a port of the host's loopback
 * interface: they use the API's Service.
 */
const reachedAt = (inventory: Inventory): string =>
  inventory.loadBalancer.kind === 'local' ? `${firstServiceAddress(inventory)}:443` : inventory.endpoint;

/**
 * Tells Calico's pods the address of the API. A Windows host cannot reach Service addresses, and kube-proxy may start
 * later.
 */
function endpoint(inventory: Inventory): JsonObject {
  const at = reachedAt(inventory);
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kubernetes-services-endpoint', namespace: OPERATOR_NAMESPACE },
    data: {
      KUBERNETES_SERVICE_HOST: endpointHost(at),
      KUBERNETES_SERVICE_PORT: String(endpointParts(at)?.port ?? 443),
    },
  };
}

/** The objects from which Calico's operator installs Calico. */
export const calicoObjects = (inventory: InventoryWith<'calico'>): readonly JsonObject[] => [
  endpoint(inventory),
  installation(inventory),
  strictAffinity(inventory),
];

const fileName = (source: string): string => source.split('/').at(-1)!;

/** Calico's operator, as its project publishes it, with the CRDs of Calico's objects. */
export const calicoOperator: PluginPart<'calico'> = {
  name: 'calico-operator',
  manifest: ({ network: { manifests } }) => ({
    title: `the operator of Calico (${manifests.map(({ source }) => fileName(source)).join(', ')})`,
    objects: manifests.flatMap(({ objects }) => objects),
    compare: 'hash',
  }),
};

/** Calico's objects. The operator adds fields to them, so kbuild compares the hash of what it applied. */
export const calico: PluginPart<'calico'> = {
  name: 'calico',
  manifest: (inventory) => {
    const { encapsulation, bgp, wireguard } = inventory.network.calico;
    const how = [encapsulation, ...(bgp ? ['BGP'] : []), ...(wireguard ? ['WireGuard'] : [])].join(', ');
    return { title: `Calico (${how})`, objects: calicoObjects(inventory), compare: 'hash' };
  },
};

/** Felix' settings. Each node may write this object, and Calico's library keeps the metadata in a form of its own. */
export const calicoFelix: PluginPart<'calico'> = {
  name: 'calico-felix',
  manifest: (inventory) => ({ title: 'settings of Felix', objects: [felixObject(inventory)], compare: 'values' }),
};
