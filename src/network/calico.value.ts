import type { ListeningPort } from '../inventory/network-plugins.ts';
import { type NetworkPlugin, vxlanBytes, type WindowsPlugin } from './plugin.value.ts';

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

/** Calico, installed by its operator: VXLAN without BGP, as Windows hosts need it. */
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
    '/var/lib/calico',
    '/var/log/calico',
    '/run/calico',
  ],
  interfaces: /^(?:cali|vxlan(?:-v6)?[.]calico$)/,
  interfaceNames: ['cali*', 'tunl*', 'vxlan.calico', 'vxlan-v6.calico', 'wireguard.cali', 'wg-v6.cali'],
  chains: ['cali-'],
  ofNode: { interfaces: [], files: [] },
  owns: {},
  windows,
  vxlanPort: () => VXLAN_PORT,
  overheadBytes: vxlanBytes,
  ports: (_, { os }) => [
    { port: VXLAN_PORT, protocol: 'udp', program: 'calico', from: 'nodes' },
    ...(os === 'linux' ? LINUX_PORTS : []),
  ],
  // The operator decides which images its pods run.
  images: () => [],
  leaves: () => ({
    // The tunnel, and the host's end of each pod's veth pair.
    interfaces: /^(?:vxlan(?:-v6)?\.calico|cali[0-9a-f]{11})$/,
    // One blackhole route for each block of addresses of the host's pods.
    blackholes: true,
  }),
};
