import { type Fleet, observedLinux } from '../cluster/fleet/fleet.ts';
import { hasKubelet } from '../cluster/fleet/joined.ts';
import { type ClusterUp, objectKey } from '../cluster/fleet/view.ts';
import { Refused } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { PluginName, SettingsOf } from '../inventory/network-plugins.ts';
import { ofCluster, within } from '../shell/decode.ts';
import { calicoRefusals } from './calico.refusal.ts';
import { ciliumRefusals } from './cilium.refusal.ts';
import { usesCilium } from './cilium.value.ts';
import { flannelRefusals } from './flannel.refusal.ts';
import { CONFIG_ANNOTATION, type InventoryWith, type NetworkPlugin } from './plugin.value.ts';
import { networkPlugin, networkPlugins } from './plugins.value.ts';

interface LiveNetwork<P extends PluginName = PluginName> {
  refusals(inventory: InventoryWith<P>, fleet: Fleet): readonly Refused<'windows-network'>[];
}

/**
 * Network plugins that can run on Windows hosts: on these alone a setting needs another network than Linux hosts have.
 */
type OnWindows = { [P in PluginName]: SettingsOf<P>['windows'] extends undefined ? never : P }[PluginName];

const PLUGINS: { readonly [P in OnWindows]: LiveNetwork<P> } = {
  flannel: { refusals: flannelRefusals },
  calico: { refusals: calicoRefusals },
};

/** Why `up` cannot change the network plugin of a live cluster to the desired settings. */
export function networkRefusals(inventory: Inventory, fleet: Fleet): readonly Refused<'windows-network'>[] {
  const plugin = (PLUGINS as Readonly<Partial<Record<PluginName, LiveNetwork>>>)[inventory.network.plugin];
  return plugin?.refusals(inventory, fleet) ?? [];
}

/** True for a live DaemonSet of kbuild's own manifests. */
const isOfKbuild = (cluster: ClusterUp, key: string): boolean =>
  ofCluster(
    cluster,
    key,
    () => CONFIG_ANNOTATION in within(cluster.objects.get(key), 'spec', 'template', 'metadata', 'annotations'),
  );

/**
 * The network plugin that kbuild installed in a cluster, by the record of applied objects. That record also has the
 * objects of the user's manifests: they count only if the live object is still kbuild's own.
 */
function installed(cluster: ClusterUp, { manifests }: Inventory): NetworkPlugin | undefined {
  const users = new Set(manifests.flatMap((each) => each.objects).map(objectKey));
  // The live objects may be unknown: they are read only where a key is in both lists.
  const ours = new Set(cluster.owned.filter((key) => !users.has(key) || isOfKbuild(cluster, key)));
  return networkPlugins.find(({ agent }) => agent !== undefined && ours.has(agent.object));
}

/**
 * Why kbuild does not make the change to another plugin itself, though both would run at once. Sources: Cilium 1.19
 * `Documentation/installation/k8s-install-migration.rst`, Calico 3.32 `migration-from-flannel`; flannel has none.
 */
const WHY_NOT: Readonly<Record<PluginName, string>> = {
  flannel: 'flannel documents no change to it on a live cluster',
  calico:
    'Calico documents the change from flannel alone, by a controller that needs Calico installed without its operator',
  cilium:
    'Cilium documents the change node by node, with addresses of pods outside of podSubnet, which stays as long as ' +
    'the cluster, and without NetworkPolicies meanwhile',
  none: 'without it no pod has a network',
};

const anotherPlugin = ({ name, network: { plugin } }: Inventory, found: string): Refused<'network-plugin-changed'> =>
  new Refused(
    'network-plugin-changed',
    name,
    `network.plugin is ${plugin}, the cluster was made with ${found}; ${WHY_NOT[plugin]}`,
    `set network.plugin back to ${found}` +
      (plugin === 'none'
        ? ', or build a new cluster'
        : `, or build a new cluster with ${plugin} and move the workloads`),
  );

/**
 * Refuses a plugin on top of one that kbuild did not install, which the CNI configuration of a live node shows: an
 * adopted cluster, or one with `plugin: none`. The next pods would be on another network than those that run.
 */
function besideAnother(inventory: Inventory, fleet: Fleet): readonly Refused<'network-plugin-changed'>[] {
  const { agent, title } = networkPlugin(inventory);
  if (agent === undefined) return [];
  return observedLinux(fleet).flatMap(({ host, facts }) => {
    if (!hasKubelet(facts)) return [];
    // Its own file beside it: it runs, and what else is there was left by a plugin before it.
    const files = facts.cniConfigurations;
    const other = files.includes(agent.cniConfig)
      ? undefined
      : networkPlugins.find((plugin) => plugin.agent !== undefined && files.includes(plugin.agent.cniConfig));
    if (other === undefined) return [];
    return [
      new Refused(
        'network-plugin-changed',
        host.name,
        `network.plugin is ${inventory.network.plugin}, and its pods are on a network of ${other.title} that kbuild ` +
          `did not install (/etc/cni/net.d/${other.agent!.cniConfig})`,
        `set network.plugin to none; or to ${other.name}, if kbuild is to take it over. If the file is a leftover, ` +
          `remove it. For ${title} build a new cluster`,
      ),
    ];
  });
}

/**
 * Refuses to replace or remove the network plugin of a live cluster: all pods would lose their network. Refuses too
 * what Cilium cannot change.
 */
export function pluginChange(
  inventory: Inventory,
  fleet: Fleet,
  cluster: ClusterUp,
): readonly Refused<'network-plugin-changed'>[] {
  const found = installed(cluster, inventory)?.name;
  if (found === 'cilium' && usesCilium(inventory)) return ciliumRefusals(inventory, cluster);
  if (found === undefined) return besideAnother(inventory, fleet);
  return found === inventory.network.plugin ? [] : [anotherPlugin(inventory, found)];
}
