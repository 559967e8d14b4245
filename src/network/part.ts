import type { InventoryWith } from '../components/network-plugins/network-plugin.ts';
import type { PluginName } from '../model/network-plugins.ts';
import type { Manifest } from '../resources/manifest.ts';

/** A group of objects of a network plugin, which one step applies. */
export interface PluginPart<P extends PluginName = PluginName> {
  /** The step's name. */
  readonly name: string;
  manifest(inventory: InventoryWith<P>): Manifest;
}
