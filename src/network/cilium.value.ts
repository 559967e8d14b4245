import type { Inventory } from '../inventory/inventory.ts';
import { hasKubeProxy, type ListeningPort } from '../inventory/network-plugins.ts';
import { imagesIn, type InventoryWith, type NetworkPlugin, vxlanBytes } from './plugin.value.ts';

// Sources: Cilium 1.19.5, Documentation/operations/system_requirements.rst ("Firewall Rules"),
// install/kubernetes/cilium/values.yaml, pkg/mtu/mtu.go, pkg/defaults, and `cilium-dbg post-uninstall-cleanup`.

const WIREGUARD_PORT = 51_871;

/** pkg/mtu/mtu.go: WireGuard's headers, and room for their padding. */
const WIREGUARD_BYTES = 95;

const port = (
  number: number,
  protocol: 'tcp' | 'udp',
  program: string,
  from: ListeningPort['from'],
): ListeningPort => ({
  port: number,
  protocol,
  program,
  from,
});

/** Metrics, health and API of agent and operator that only their own host uses. */
const LOOPBACK: readonly ListeningPort[] = [
  ...[9878, 9879, 9890, 9891].map((number) => port(number, 'tcp', 'cilium-agent', 'itself')),
  port(9234, 'tcp', 'cilium-operator', 'itself'),
];

/** True where the network plugin is Cilium. */
export const usesCilium = (inventory: Inventory): inventory is InventoryWith<'cilium'> =>
  inventory.network.plugin === 'cilium';

/** Cilium, installed by its chart: beside kube-proxy or in its place. */
export const cilium: NetworkPlugin<'cilium'> = {
  name: 'cilium',
  title: 'Cilium',
  agent: {
    label: { name: 'k8s-app', value: 'cilium' },
    object: 'apps/v1/DaemonSet/kube-system/cilium',
    cniConfig: '05-cilium.conflist',
    logs: 'kubectl -n kube-system logs -l k8s-app=cilium',
  },
  // Its chart makes the first, for certificates of policies.
  namespaces: ['cilium-secrets'],
  files: [
    '/etc/cni/net.d/05-cilium.conflist',
    '/etc/sysctl.d/99-zzz-override_cilium.conf',
    '/opt/cni/bin/cilium-cni',
    '/var/lib/cilium',
    '/run/cilium',
    '/sys/fs/bpf/cilium',
    '/sys/fs/bpf/tc/globals/cilium_*',
  ],
  interfaces: /^(?:cilium_|lxc[0-9a-f]{12}$|lxc_health$)/,
  interfaceNames: ['cilium_*', 'lxc*'],
  chains: ['CILIUM_', 'OLD_CILIUM_'],
  ofNode: { interfaces: [], files: [] },
  owns: {},
  addressesFromNode: true,
  kernel: { least: '5.10', features: ['btf', 'bpffs'] },
  windows: undefined,
  vxlanPort: ({
    network: {
      cilium: { routing, port: tunnel },
    },
  }) => (routing === 'vxlan' ? tunnel : undefined),
  overheadBytes: (inventory) => {
    const { routing, wireguard } = inventory.network.cilium;
    // A Geneve header without options is as long as a VXLAN header.
    return (routing === 'native' ? 0 : vxlanBytes(inventory)) + (wireguard ? WIREGUARD_BYTES : 0);
  },
  ports: (inventory) => {
    const { port: tunnel, wireguard, hubble } = inventory.network.cilium;
    return [
      ...(tunnel === undefined ? [] : [port(tunnel, 'udp', 'cilium', 'nodes')]),
      ...(wireguard ? [port(WIREGUARD_PORT, 'udp', 'cilium', 'nodes')] : []),
      port(4240, 'tcp', 'cilium-agent', 'nodes'),
      ...(hubble ? [port(4244, 'tcp', 'cilium-agent', 'nodes')] : []),
      ...(hasKubeProxy(inventory) ? [] : [port(10_256, 'tcp', 'cilium-agent', 'everybody')]),
      port(9963, 'tcp', 'cilium-operator', 'everybody'),
      ...LOOPBACK,
    ];
  },
  images: ({ network }: InventoryWith<'cilium'>) => [
    ...new Set(network.manifests.flatMap(({ objects }) => imagesIn(objects))),
  ],
  leaves: () => ({
    interfaces: /^(?:cilium_(?:host|net|vxlan|geneve|wg0)|lxc[0-9a-f]{12}|lxc_health)$/,
    blackholes: false,
    programs: true,
  }),
};
