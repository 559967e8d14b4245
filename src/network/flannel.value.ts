import { eachOf, familyOf } from '../inventory/addresses.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { windowsPaths } from '../paths.ts';
import type { JsonObject } from '../shell/decode.ts';
import { type InventoryWith, type NetworkPlugin, vxlanBytes, type WindowsPlugin } from './plugin.value.ts';

/** Namespace of flannel's objects. */
export const FLANNEL_NAMESPACE = 'kube-flannel';

/** flanneld writes the node's pod network to this file. */
const SUBNET_FILE = '/run/flannel/subnet.env';

/** The bridge that flannel's delegate plugin creates. */
const BRIDGE = 'cni0';

/** flannel's files on Windows hosts. */
export const flannelWindowsPaths = {
  cniConfig: 'C:\\etc\\cni\\net.d\\10-flannel.conf',
  config: 'C:\\etc\\kube-flannel',
  netConf: 'C:\\etc\\kube-flannel\\net-conf.json',
  log: 'C:\\var\\log\\flanneld',
  run: 'C:\\run\\flannel',
  subnetEnv: 'C:\\run\\flannel\\subnet.env',
} as const;

const { cniConfig, config, netConf, log, run, subnetEnv } = flannelWindowsPaths;

const windows: WindowsPlugin<'flannel'> = {
  hnsNetworks: /^(?:flannel\.\d+|cbr0)$/,
  services: ['flanneld'],
  folders: [config, log, run],
  files: [cniConfig, netConf, subnetEnv],
  ofNode: [run],
  logs: { flanneld: log },
  hnsNetwork: ({ flannel: { backend, vni } }) => (backend === 'vxlan' ? `flannel.${String(vni)}` : 'cbr0'),
  images: ({ windows: settings }) => (settings === undefined ? [] : [settings.flannelImage]),
  // Documented by Kubernetes (Networking on Windows).
  nodeLimit: ({ flannel: { backend } }) =>
    backend === 'vxlan'
      ? 'with flannel VXLAN a Windows node reaches only pods of its own; backend: host-gw has no such limit'
      : undefined,
  programs: ({ flannel: { backend } }) => [
    { file: 'flanneld.exe', path: `${windowsPaths.programs}\\flanneld.exe` },
    ...['flannel.exe', 'host-local.exe', backend === 'vxlan' ? 'sdnoverlay.exe' : 'win-bridge.exe'].map((file) => ({
      file,
      path: `${windowsPaths.cniBin}\\${file}`,
    })),
  ],
};

const vxlanPort = ({ network: { flannel: settings } }: InventoryWith<'flannel'>): number | undefined =>
  settings.backend === 'vxlan' ? settings.port : undefined;

/** flannel: VXLAN tunnels, or routes (`host-gw`), between the hosts of one network. */
export const flannel: NetworkPlugin<'flannel'> = {
  name: 'flannel',
  title: 'flannel',
  agent: {
    label: { name: 'app', value: 'flannel' },
    object: `apps/v1/DaemonSet/${FLANNEL_NAMESPACE}/kube-flannel-ds`,
    cniConfig: '10-flannel.conflist',
    logs: `kubectl -n ${FLANNEL_NAMESPACE} logs -l app=flannel`,
  },
  namespaces: [FLANNEL_NAMESPACE],
  ownNamespace: FLANNEL_NAMESPACE,
  files: [
    '/etc/cni/net.d/10-flannel.conflist',
    '/var/lib/cni/flannel',
    '/var/lib/cni/networks/cbr0',
    '/var/lib/cni/results/cbr0-*',
    '/var/lib/cni/cache/results/cbr0-*',
    '/run/flannel',
  ],
  interfaces: /^(?:cni0$|flannel)/,
  interfaceNames: ['cni0', 'flannel*', 'veth*'],
  chains: ['FLANNEL-'],
  tables: ['flannel-ipv4', 'flannel-ipv6'],
  ofNode: { interfaces: [BRIDGE], files: [SUBNET_FILE] },
  owns: {},
  needsKubeProxy: true,
  addressesFromNode: true,
  windows,
  vxlanPort,
  overheadBytes: (inventory) => (vxlanPort(inventory) === undefined ? 0 : vxlanBytes(inventory)),
  ports: (inventory) => {
    const port = vxlanPort(inventory);
    return port === undefined ? [] : [{ port, protocol: 'udp', program: 'flannel', from: 'nodes' }];
  },
  images: ({ network }) => [network.flannel.image, network.flannel.cniPluginImage],
  leaves: ({ network }) => ({
    interfaces: new RegExp(`^(?:${BRIDGE}|flannel(?:-v6)?\\.${String(network.flannel.vni)})$`),
    blackholes: false,
  }),
};

/** True where the network plugin is flannel: for flannel's own steps. */
export const usesFlannel = (inventory: Inventory): inventory is InventoryWith<'flannel'> =>
  inventory.network.plugin === 'flannel';

/** `liveBackend` in flannel.refusal.ts reads these fields from a live cluster. */
const backendOf = ({ flannel: { backend, vni, port } }: InventoryWith<'flannel'>['network']): JsonObject =>
  backend === 'vxlan' ? { Type: 'vxlan', VNI: vni, Port: port } : { Type: 'host-gw' };

/** One family leaves the fields of the other one out: flanneld's defaults are those of IPv4 alone. */
function networksOf({ podSubnet }: Inventory['network']): JsonObject {
  const [ipv4, ipv6] = (['IPv4', 'IPv6'] as const).map((family) =>
    eachOf(podSubnet).find((cidr) => familyOf(cidr) === family),
  );
  return {
    ...(ipv4 === undefined ? { EnableIPv4: false } : { Network: ipv4 }),
    ...(ipv6 === undefined ? {} : { EnableIPv6: true, IPv6Network: ipv6 }),
  };
}

/** The text of flannel's net-conf.json. flanneld writes no packet filter rules on Windows. */
export const flannelNetConf = ({ network }: InventoryWith<'flannel'>, os: 'linux' | 'windows'): string =>
  JSON.stringify(
    {
      ...networksOf(network),
      EnableNFTables: os === 'linux' && network.flannel.nftables,
      Backend: backendOf(network),
    },
    undefined,
    2,
  );
