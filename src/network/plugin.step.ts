import type { Manifest } from '../engine/objects.ts';
import type { PluginName } from '../inventory/network-plugins.ts';
import type { InventoryWith } from './plugin.value.ts';

/** A group of objects of a network plugin, which one step applies. */
export interface PluginPart<P extends PluginName = PluginName> {
  /** The step's name. */
  readonly name: string;
  manifest(inventory: InventoryWith<P>): Manifest;
}
