import type { ListeningPort } from '../inventory/network-plugins.ts';
import { type InventoryWith, type NetworkPlugin, VXLAN_BYTES } from './plugin.value.ts';

// These values come from the sources of Cilium 1.20.2. kbuild has never run Cilium. Sources:
// Documentation/operations/system_requirements.rst ("Firewall Rules"), install/kubernetes/cilium/values.yaml,
// pkg/mtu/mtu.go, pkg/defaults, and `cilium-dbg post-uninstall-cleanup`.

const VXLAN_PORT = 8472;
const GENEVE_PORT = 6081;
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

const tunnelPort = ({ network: { cilium: settings } }: InventoryWith<'cilium'>): number | undefined =>
  ({ vxlan: VXLAN_PORT, geneve: GENEVE_PORT, none: undefined })[settings.tunnel];

/** Metrics, health and API of agent and operator that only their own host uses. */
const LOOPBACK: readonly ListeningPort[] = [
  ...[9878, 9879, 9890, 9891].map((number) => port(number, 'tcp', 'cilium-agent', 'itself')),
  port(9234, 'tcp', 'cilium-operator', 'itself'),
];

/** Cilium beside kube-proxy: addresses of pods from Kubernetes (`ipam.mode: kubernetes`), without Envoy and Hubble. */
export const cilium: NetworkPlugin<'cilium'> = {
  name: 'cilium',
  title: 'Cilium',
  isSupported: false,
  agent: {
    label: { name: 'k8s-app', value: 'cilium' },
    object: 'apps/v1/DaemonSet/kube-system/cilium',
    cniConfig: '05-cilium.conflist',
    logs: 'kubectl -n kube-system logs -l k8s-app=cilium',
  },
  namespaces: [],
  // Not removed: BPF programs on the host's own interfaces and in cgroups. Only Cilium's own tool or a reboot removes
  // them.
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
  owns: { 'cluster.proxy.disabled': 'Cilium runs beside kube-proxy' },
  windows: undefined,
  vxlanPort: (inventory) => (inventory.network.cilium.tunnel === 'vxlan' ? tunnelPort(inventory) : undefined),
  overheadBytes: ({ network: { cilium: settings } }) =>
    // A Geneve header without options is as long as a VXLAN header.
    (settings.tunnel === 'none' ? 0 : VXLAN_BYTES) + (settings.encryption === 'wireguard' ? WIREGUARD_BYTES : 0),
  ports: (inventory) => {
    const tunnel = tunnelPort(inventory);
    return [
      ...(tunnel === undefined ? [] : [port(tunnel, 'udp', 'cilium', 'nodes')]),
      ...(inventory.network.cilium.encryption === 'wireguard' ? [port(WIREGUARD_PORT, 'udp', 'cilium', 'nodes')] : []),
      port(4240, 'tcp', 'cilium-agent', 'nodes'),
      port(9963, 'tcp', 'cilium-operator', 'everybody'),
      ...LOOPBACK,
    ];
  },
  images: ({ network }) => [network.cilium.image, network.cilium.operatorImage],
  leaves: () => ({
    interfaces: /^(?:cilium_(?:host|net|vxlan|geneve|wg0)|lxc[0-9a-f]{12}|lxc_health)$/,
    blackholes: false,
  }),
};
