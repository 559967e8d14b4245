import { manifest, type Manifest } from '../engine/objects.ts';
import type { Step } from '../engine/step.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { PluginName } from '../inventory/network-plugins.ts';
import { calico, calicoFelix, calicoOperator } from './calico.step.ts';
import { flannel } from './flannel.step.ts';
import type { PluginPart } from './plugin.step.ts';

/** Cilium's objects, as its chart has them. Its operator makes the CRDs. */
const cilium: PluginPart<'cilium'> = {
  name: 'cilium',
  manifest: ({ network: { cilium: settings, manifests } }) => {
    const how = [settings.routing, ...(settings.replacesKubeProxy ? ['without kube-proxy'] : [])].join(', ');
    const objects = manifests.flatMap((each) => each.objects);
    return { title: `Cilium ${settings.version} (${how})`, objects, compare: 'hash' };
  },
};

const PARTS: { readonly [P in PluginName]: readonly PluginPart<P>[] } = {
  flannel: [flannel],
  calico: [calicoOperator, calico, calicoFelix],
  cilium: [cilium],
  // The user installs the network.
  none: [],
};

const partsOf = ({ network: { plugin } }: Inventory): readonly PluginPart[] => PARTS[plugin];

/** The objects of the network plugin, in the order in which they are applied. */
export const networkManifests = (inventory: Inventory): readonly Manifest[] =>
  partsOf(inventory).map((part) => part.manifest(inventory));

/** Steps that install the network plugin. */
export const networkSteps = (inventory: Inventory): readonly Step<'cluster'>[] =>
  partsOf(inventory).map((part) => manifest(part.name, (desired) => part.manifest(desired)));

/** Objects of the inventory's `manifests:`; undefined if it has none. */
export function userManifest({ manifests }: Inventory): Manifest | undefined {
  if (manifests.length === 0) return undefined;
  const sources = manifests.map(({ source }) => source.split('/').at(-1)!);
  return {
    title: sources.length > 3 ? `${String(sources.length)} manifests` : sources.join(', '),
    objects: manifests.flatMap(({ objects }) => objects),
    compare: 'hash',
  };
}

/** Applies the user's own objects, after the network plugin. */
export const userManifests = manifest('user-manifests', userManifest);
