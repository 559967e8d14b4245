import type { PluginName } from '../inventory/network-plugins.ts';
import type { ManifestEntry } from '../inventory/schema/formats.ts';
import type { Path, Rule } from '../inventory/schema/rule.ts';
import type { InventoryFile } from '../inventory/schema/schema.ts';
import { calico } from './calico.file.ts';
import { cilium } from './cilium.file.ts';
import { flannel } from './flannel.file.ts';
import type { PluginFile } from './plugin.file.ts';

const FILES: { readonly [P in PluginName]: PluginFile<P> } = {
  flannel,
  calico,
  cilium,
  none: { settings: () => ({ plugin: 'none', windows: undefined }) },
};

/** The functions that read and check the settings of the inventory's network plugin. */
export const pluginFile = ({ network }: InventoryFile): PluginFile => FILES[network.plugin];

/** Manifests of network plugins' projects that an inventory names, and the settings that name them. */
export const pluginManifests = (
  file: InventoryFile,
): readonly { readonly at: Path; readonly entries: readonly ManifestEntry[] }[] =>
  Object.values(FILES).flatMap(({ manifests }: PluginFile) =>
    manifests === undefined ? [] : [{ at: manifests.path(file), entries: manifests.entries(file) }],
  );

/** Checks the settings of the network plugin. Refuses settings of another plugin: they would have no effect. */
const pluginSettings: Rule = (file) =>
  Object.values(FILES).flatMap((each: PluginFile) => {
    const rule = each === pluginFile(file) ? each.rule : each.otherwise;
    return rule?.(file) ?? [];
  });

/** Rules about the network plugin. */
export const pluginRules: readonly Rule[] = [pluginSettings];
