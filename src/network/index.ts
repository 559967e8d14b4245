import type { Step } from '../engine/step.ts';
import type { Inventory } from '../model/inventory.ts';
import type { PluginName } from '../model/network-plugins.ts';
import { manifest, type Manifest } from '../resources/manifest.ts';
import { calico, calicoOperator } from './calico.ts';
import { flannel } from './flannel.ts';
import type { PluginPart } from './part.ts';

const PARTS: { readonly [P in PluginName]?: readonly PluginPart<P>[] } = {
  flannel: [flannel],
  calico: [calicoOperator, calico],
};

const partsOf = ({ network }: Inventory): readonly PluginPart[] => PARTS[network.plugin] ?? [];

/** The objects of the network plugin, in the order in which they are applied. */
export const networkManifests = (inventory: Inventory): readonly Manifest[] =>
  partsOf(inventory).map((part) => part.manifest(inventory));

/** Steps that install the network plugin. */
export const networkSteps = (inventory: Inventory): readonly Step<'cluster'>[] =>
  partsOf(inventory).map(({ name }) =>
    manifest(name, (wanted) =>
      partsOf(wanted)
        .find((part) => part.name === name)
        ?.manifest(wanted),
    ),
  );
