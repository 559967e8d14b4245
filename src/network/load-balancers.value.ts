import type { Host, Inventory } from '../inventory/inventory.ts';
import { linuxWorkers } from '../inventory/hosts.ts';
import type { ListeningPort, ServiceBalancers } from '../inventory/network-plugins.ts';
import { isObject, type JsonObject, objectsOf, textsIn, within } from '../shell/decode.ts';
import { imagesIn } from './plugin.value.ts';
import { networkPlugin, networkPlugins } from './plugins.value.ts';

/** Namespace of MetalLB, which its manifest creates. */
export const METALLB_NAMESPACE = 'metallb-system';

/** Namespaces of the pods of the network, beside kube-system. */
export const networkNamespaces = (inventory: Inventory): readonly string[] => [
  ...networkPlugin(inventory).namespaces,
  ...(inventory.network.loadBalancers?.kind === 'metallb' ? [METALLB_NAMESPACE] : []),
];

/** Namespaces of which a support bundle has the pods and their logs. */
export const supportedNamespaces: readonly string[] = [
  ...networkPlugins.flatMap(({ namespaces }) => namespaces),
  METALLB_NAMESPACE,
];

/** How messages call who answers for addresses of Services. */
export const balancerTitles: Readonly<Record<ServiceBalancers['kind'], string>> = {
  metallb: 'MetalLB',
  'kube-vip': 'kube-vip for Services',
  cilium: "Cilium's addresses of Services",
};

/** At the address of its host alone: kube-vip of the endpoint has the port before it. */
export const KUBE_VIP_METRICS_PORT = 2113;

const port = (number: number, protocol: ListeningPort['protocol'], from: ListeningPort['from']): ListeningPort => ({
  port: number,
  protocol,
  program: 'speaker',
  from,
});

/** By 7946 speakers notice that another one is gone (metallb.io, "Network requirements"). */
const SPEAKER: readonly ListeningPort[] = [
  port(7946, 'tcp', 'nodes'),
  port(7946, 'udp', 'nodes'),
  port(9120, 'tcp', 'itself'),
  port(17_472, 'tcp', 'itself'),
];

/** Ports at which a node listens for the sake of the network, beside those of its plugin. */
export function servicePorts({ network }: Inventory, host: Host): readonly ListeningPort[] {
  if (host.os !== 'linux') return [];
  if (network.loadBalancers?.kind === 'metallb') return SPEAKER;
  if (network.loadBalancers?.kind !== 'kube-vip') return [];
  return [{ port: KUBE_VIP_METRICS_PORT, protocol: 'tcp', program: 'kube-vip', from: 'itself' }];
}

/** Images of a node for the sake of the network, beside those of its plugin. */
export const serviceImages = ({ network: { loadBalancers, nodeLocalDns } }: Inventory): readonly string[] => [
  ...new Set([
    ...(loadBalancers?.kind === 'kube-vip' ? [loadBalancers.image, loadBalancers.providerImage] : []),
    ...(loadBalancers?.manifests ?? []).flatMap(({ objects }) => imagesIn(objects)),
    ...(nodeLocalDns === undefined ? [] : [nodeLocalDns.image]),
  ]),
];

/** MetalLB announces from no node with a label that kubeadm gives control planes: without workers it must. */
function announcing(object: JsonObject): JsonObject {
  if (object['kind'] !== 'DaemonSet') return object;
  const spec = within(object, 'spec');
  const template = within(spec, 'template');
  const pods = within(template, 'spec');
  const containers = objectsOf(pods['containers'] ?? []).map((container) =>
    container['name'] === 'speaker' && Array.isArray(container['args'])
      ? { ...container, args: [...textsIn(container['args']), '--ignore-exclude-lb'] }
      : container,
  );
  return { ...object, spec: { ...spec, template: { ...template, spec: { ...pods, containers } } } };
}

/** MetalLB's objects, as its project publishes them. */
export function metallbObjects(inventory: Inventory): readonly JsonObject[] {
  const objects = (inventory.network.loadBalancers?.manifests ?? []).flatMap((each) => each.objects);
  return linuxWorkers(inventory).length > 0 ? objects : objects.filter(isObject).map(announcing);
}

const metallbPools = ({ pools, interfaces }: ServiceBalancers): readonly JsonObject[] => [
  ...Object.entries(pools).map(([name, addresses]) => ({
    apiVersion: 'metallb.io/v1beta1',
    kind: 'IPAddressPool',
    metadata: { name, namespace: METALLB_NAMESPACE },
    spec: { addresses },
  })),
  {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'L2Advertisement',
    metadata: { name: 'kbuild', namespace: METALLB_NAMESPACE },
    spec: { ipAddressPools: Object.keys(pools), ...(interfaces.length === 0 ? {} : { interfaces }) },
  },
];

const block = (text: string): JsonObject => {
  const [start, stop] = text.split('-');
  return stop === undefined ? { cidr: text } : { start, stop };
};

/** An interface in the regular expressions of Cilium's policy. */
const exactly = (name: string): string => `^${name.replaceAll('.', String.raw`\.`)}$`;

const ciliumPools = ({ pools, interfaces }: ServiceBalancers): readonly JsonObject[] => [
  ...Object.entries(pools).map(([name, addresses]) => ({
    apiVersion: 'cilium.io/v2',
    kind: 'CiliumLoadBalancerIPPool',
    metadata: { name },
    spec: { blocks: addresses.map(block) },
  })),
  {
    apiVersion: 'cilium.io/v2alpha1',
    kind: 'CiliumL2AnnouncementPolicy',
    metadata: { name: 'kbuild' },
    spec: { loadBalancerIPs: true, ...(interfaces.length === 0 ? {} : { interfaces: interfaces.map(exactly) }) },
  },
];

const POOLS: Readonly<Record<ServiceBalancers['kind'], (settings: ServiceBalancers) => readonly JsonObject[]>> = {
  metallb: metallbPools,
  // A ConfigMap beside its programs.
  'kube-vip': () => [],
  cilium: ciliumPools,
};

/** The objects that say which addresses there are: kinds of custom resources, some with a webhook. */
export const poolObjects = ({ network: { loadBalancers } }: Inventory): readonly JsonObject[] =>
  loadBalancers === undefined ? [] : POOLS[loadBalancers.kind](loadBalancers);
