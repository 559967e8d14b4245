import type { Inventory } from '../../src/inventory/inventory.ts';
import type { Calico, Cilium, Flannel, WindowsFlannel } from '../../src/inventory/network-plugins.ts';
import type { InventoryWith } from '../../src/network/plugin.value.ts';

const common = {
  podSubnet: '10.244.0.0/16',
  serviceSubnet: '10.96.0.0/12',
  moreServiceSubnets: [],
  manifests: [],
  testImage: 'registry.k8s.io/e2e-test-images/agnhost:2.53',
} as const;

/** flannel with the defaults of an inventory: VXLAN without Windows hosts. */
export const flannelNetwork = (
  flannel: Partial<Flannel> = {},
  windows?: WindowsFlannel,
): InventoryWith<'flannel'>['network'] => ({
  ...common,
  plugin: 'flannel',
  flannel: {
    image: 'ghcr.io/flannel-io/flannel:v0.28.10',
    cniPluginImage: 'ghcr.io/flannel-io/flannel-cni-plugin:v1.9.1-flannel1',
    backend: 'vxlan',
    port: 8472,
    vni: 1,
    nftables: false,
    ...flannel,
  },
  windows,
});

/** flannel as Windows hosts need it, in overlay mode. */
export const mixedFlannel = (windows: Partial<WindowsFlannel> = {}): InventoryWith<'flannel'>['network'] =>
  flannelNetwork(
    { port: 4789, vni: 4096 },
    { mode: 'overlay', services: false, flannelImage: 'f', kubeProxyImage: 'k', ...windows },
  );

/** Calico with the defaults of an inventory, without manifests of its operator. */
export const calicoNetwork = (
  over: Partial<InventoryWith<'calico'>['network']> = {},
  calico: Partial<Calico> = {},
): InventoryWith<'calico'>['network'] => ({
  ...common,
  plugin: 'calico',
  calico: { encapsulation: 'VXLAN', bgp: false, wireguard: false, ...calico },
  windows: undefined,
  ...over,
});

/** Cilium with the defaults of an inventory. */
export const ciliumNetwork = (cilium: Partial<Cilium> = {}): InventoryWith<'cilium'>['network'] => ({
  ...common,
  plugin: 'cilium',
  cilium: {
    version: '1.19.5',
    routing: 'vxlan',
    port: 8472,
    ipam: 'kubernetes',
    wireguard: false,
    hubble: false,
    replacesKubeProxy: false,
    ...cilium,
  },
  windows: undefined,
});

/** A network that the user installs. */
export const noNetwork: InventoryWith<'none'>['network'] = { ...common, plugin: 'none', windows: undefined };

/** An inventory with this network. */
export const withNetwork = <N extends Inventory['network']>(
  inventory: Inventory,
  network: N,
): Inventory & { readonly network: N } => ({ ...inventory, network });
