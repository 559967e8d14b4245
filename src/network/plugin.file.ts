import type { UserManifest } from '../inventory/inventory.ts';
import type { PluginName, SettingsOf } from '../inventory/network-plugins.ts';
import type { ChartEntry } from '../inventory/schema/charts.ts';
import type { ManifestEntry } from '../inventory/schema/formats.ts';
import type { Path, Rule } from '../inventory/schema/rule.ts';
import type { InventoryFile } from '../inventory/schema/schema.ts';

/** Manifests that the project of a network plugin publishes and an inventory names. */
interface PluginManifests {
  /** The setting that names them. */
  path(file: InventoryFile): Path;
  entries(file: InventoryFile): readonly ManifestEntry[];
  /** The kind that these manifests lack; undefined if they are complete. */
  missing(manifests: readonly UserManifest[]): string | undefined;
}

/** Reads and checks the settings of a network plugin in the file of an inventory. */
export interface PluginFile<P extends PluginName = PluginName> {
  /** Checks an inventory that uses this plugin. */
  readonly rule?: Rule;
  /** Checks an inventory that uses another plugin. */
  readonly otherwise?: Rule;
  readonly manifests?: PluginManifests;
  /** The setting that names the plugin's chart, and that chart. */
  readonly chart?: {
    readonly path: Path;
    /** `endpoint`: where clients reach the API, as `host:port`. */
    entry(file: InventoryFile, endpoint: string): ChartEntry;
  };
  /** The settings, with all defaults filled in. */
  settings(file: InventoryFile): SettingsOf<P>;
}

/** True where the inventory names a Windows host. */
export const hasWindows = ({ hosts }: InventoryFile): boolean => hosts.some(({ os }) => os === 'windows');

/** The image of kube-proxy for Windows hosts. */
export const kubeProxyImage = ({ kubernetes, network }: InventoryFile): string =>
  network.windows.kubeProxyImage ?? `docker.io/sigwindowstools/kube-proxy:v${kubernetes.version}-calico-hostprocess`;
