import type { Inventory } from '../inventory/inventory.ts';
import type { PluginName } from '../inventory/network-plugins.ts';
import { calico } from './calico.value.ts';
import { cilium } from './cilium.value.ts';
import { flannel } from './flannel.value.ts';
import type { NetworkPlugin, WindowsPlugin } from './plugin.value.ts';

/** kbuild installs no network plugin: the user does, and kbuild knows nothing about it. */
const none: NetworkPlugin<'none'> = {
  name: 'none',
  title: 'none',
  agent: undefined,
  namespaces: [],
  files: [],
  // Matches no interface.
  interfaces: /^$/,
  interfaceNames: [],
  chains: [],
  ofNode: { interfaces: [], files: [] },
  owns: {},
  windows: undefined,
  vxlanPort: () => undefined,
  overheadBytes: () => 0,
  ports: () => [],
  images: () => [],
  leaves: () => ({ interfaces: /^$/, blackholes: false }),
};

const PLUGINS: { readonly [P in PluginName]: NetworkPlugin<P> } = { flannel, calico, cilium, none };

/** The network plugin of an inventory that names none. */
export const defaultPlugin: NetworkPlugin = flannel;

/** Every network plugin. */
export const networkPlugins: readonly NetworkPlugin[] = Object.values(PLUGINS);

/** The network plugin with this name. */
export const networkPluginNamed = (name: PluginName): NetworkPlugin => PLUGINS[name];

/** The network plugin of an inventory. */
export const networkPlugin = ({ network }: Inventory): NetworkPlugin => PLUGINS[network.plugin];

/** All network plugins on Windows hosts: an earlier cluster may have used another one than the inventory. */
export const windowsPlugins: readonly (WindowsPlugin & Pick<NetworkPlugin, 'title' | 'namespaces'>)[] =
  networkPlugins.flatMap(({ windows, title, namespaces }) =>
    windows === undefined ? [] : [{ ...windows, title, namespaces }],
  );

/** Prefixes of the chains of the network plugins that kbuild installs. */
export const pluginChains: readonly string[] = networkPlugins.flatMap(({ chains }) => chains);

/** Tables of nftables of the network plugins that kbuild installs. */
export const pluginTables: readonly string[] = networkPlugins.flatMap(({ tables = [] }) => tables);

/** True for an interface that a network plugin created on a Linux host. */
export const isPluginInterface = (name: string): boolean =>
  networkPlugins.some(({ interfaces }) => interfaces.test(name));

/**
 * Files and folders of network plugins that reset removes from a Linux host. Those of the default plugin are removed
 * with every plugin: a host may have been in a cluster with it before.
 */
export const pluginFiles = (inventory: Inventory): readonly string[] => [
  ...new Set([...defaultPlugin.files, ...networkPlugin(inventory).files]),
];

/** Services of network plugins on Windows hosts. */
export const windowsServices: readonly string[] = windowsPlugins.flatMap(({ services }) => services);
