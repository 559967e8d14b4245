import type { ListeningPort } from '../inventory/network-plugins.ts';
import { familiesOf, hasIpv6 } from '../inventory/addresses.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { type InventoryWith, type NetworkPlugin, vxlanBytes, type WindowsPlugin } from './plugin.value.ts';

/** Key of the object that tells Calico's operator what to install. */
export const INSTALLATION = 'operator.tigera.io/v1/Installation//default';

/** Namespace of Calico's operator. */
export const OPERATOR_NAMESPACE = 'tigera-operator';

/** Calico's default VXLAN port. VXLAN on Windows supports no other port. */
const VXLAN_PORT = 4789;

/** Ports on Linux (docs.tigera.io, "System requirements"). Typha runs on some nodes, and every node connects to it. */
const LINUX_PORTS: readonly ListeningPort[] = [
  { port: 5473, protocol: 'tcp', program: 'calico-typha', from: 'nodes' },
  { port: 9098, protocol: 'tcp', program: 'calico-typha', from: 'itself' },
  { port: 9099, protocol: 'tcp', program: 'calico-node', from: 'itself' },
];

const WIREGUARD_PORTS = { IPv4: 51_820, IPv6: 51_821 } as const;

/** Bytes of WireGuard's headers (felix/config), which take the place of the tunnel's. */
const wireguardBytes = (inventory: Inventory): number => (hasIpv6(inventory) ? 80 : 60);

/** Bytes of the tunnel's headers. */
function tunnelBytes(inventory: InventoryWith<'calico'>): number {
  const { encapsulation } = inventory.network.calico;
  if (encapsulation === 'None') return 0;
  return encapsulation.startsWith('IPIP') ? 20 : vxlanBytes(inventory);
}

const vxlanPort = ({ network }: InventoryWith<'calico'>): number | undefined =>
  network.calico.encapsulation.startsWith('VXLAN') ? VXLAN_PORT : undefined;

/** Ports at which packets of pods, and routes to them, arrive from other nodes. */
function carried(inventory: InventoryWith<'calico'>): readonly ListeningPort[] {
  const { bgp, wireguard } = inventory.network.calico;
  const port = vxlanPort(inventory);
  return [
    ...(port === undefined ? [] : [{ port, protocol: 'udp', program: 'calico', from: 'nodes' } as const]),
    ...(bgp ? [{ port: 179, protocol: 'tcp', program: 'bird', from: 'nodes' } as const] : []),
    ...(wireguard ? familiesOf(inventory) : []).map((family) => ({
      port: WIREGUARD_PORTS[family],
      protocol: 'udp' as const,
      program: 'calico',
      from: 'nodes' as const,
    })),
  ];
}

/** Folders with the state of the node and its pods, sockets, logs, and the node's name. */
const WINDOWS_FOLDERS = ['C:\\var\\lib\\calico', 'C:\\var\\run\\calico', 'C:\\var\\log\\calico', 'C:\\CalicoWindows'];

const windows: WindowsPlugin<'calico'> = {
  hnsNetworks: /^Calico$/,
  services: [],
  folders: WINDOWS_FOLDERS,
  files: [],
  ofNode: [],
  logs: {},
  hnsNetwork: () => 'Calico',
  images: () => [],
  programs: () => [],
};

/** Calico, installed by its operator. */
export const calico: NetworkPlugin<'calico'> = {
  name: 'calico',
  title: 'Calico',
  agent: {
    label: { name: 'k8s-app', value: 'calico-node' },
    object: INSTALLATION,
    cniConfig: '10-calico.conflist',
    logs: 'kubectl -n calico-system logs -l k8s-app=calico-node',
  },
  namespaces: ['calico-system', 'calico-apiserver', OPERATOR_NAMESPACE],
  operatorNamespace: OPERATOR_NAMESPACE,
  // The host paths of the operator's DaemonSets.
  files: [
    '/etc/cni/net.d/10-calico.conflist',
    '/etc/cni/net.d/calico-kubeconfig',
    '/opt/cni/bin/calico',
    '/opt/cni/bin/calico-ipam',
    '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/nodeagent~uds',
    '/var/lib/calico',
    '/var/log/calico',
    '/run/calico',
    '/run/nodeagent',
  ],
  interfaces: /^(?:cali|vxlan(?:-v6)?[.]calico$|wireguard[.]cali$|wg-v6[.]cali$)/,
  interfaceNames: ['cali*', 'tunl*', 'vxlan.calico', 'vxlan-v6.calico', 'wireguard.cali', 'wg-v6.cali'],
  chains: ['cali-'],
  // Of its dataplane of nftables, and of the families of ARP since 3.30 with each dataplane.
  tables: ['calico', 'calico-arp'],
  kernel: { least: '5.10', features: [] },
  ofNode: { interfaces: [], files: [] },
  owns: {},
  windows,
  vxlanPort,
  overheadBytes: (inventory) =>
    Math.max(tunnelBytes(inventory), inventory.network.calico.wireguard ? wireguardBytes(inventory) : 0),
  ports: (inventory, { os }) => [...carried(inventory), ...(os === 'linux' ? LINUX_PORTS : [])],
  // The operator decides which images its pods run.
  images: () => [],
  leaves: () => ({
    // The tunnels, and the host's end of each pod's veth pair. tunl0 is the kernel's own.
    interfaces: /^(?:vxlan(?:-v6)?\.calico|wireguard\.cali|wg-v6\.cali|cali[0-9a-f]{11})$/,
    // One blackhole route for each block of addresses of the host's pods.
    blackholes: true,
  }),
};
