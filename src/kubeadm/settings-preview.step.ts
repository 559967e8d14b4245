import type { ClusterUp } from '../cluster/fleet/view.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Restart } from '../engine/step.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { same } from '../inventory/merge.ts';
import type { JsonObject } from '../shell/decode.ts';
import type { KubeadmPart } from './apply-settings.ts';
import { COMPONENTS } from './control-plane-files.step.ts';
import { settingsDiff } from './settings-diff.step.ts';
import { editedPatches, isBegun, notedPart, settingsOf, type SettingsPart } from './settings.ts';

/** The parts as the inventory names them. */
export const INVENTORY_NAME: Readonly<Record<SettingsPart, string>> = {
  cluster: 'kubeadm.cluster',
  kubelet: 'kubelet',
  kubeProxy: 'kubeadm.kubeProxy',
  patches: 'kubeadm.patches',
  proxy: 'proxy',
  images: 'kubernetes.imageRepository',
  dns: 'dns',
};

const partOf = (settings: JsonObject | undefined, part: SettingsPart): JsonObject =>
  (settings?.[part] ?? {}) as JsonObject;

/** The settings of a component that its manifest contains. `certSANs` are only in the API server's certificate. */
const inManifest = (settings: JsonObject, key: string): JsonObject =>
  Object.fromEntries(Object.entries((settings[key] ?? {}) as JsonObject).filter(([name]) => name !== 'certSANs'));

/**
 * What kbuild restarts when it applies edited parts: pods of the control plane host by host, kube-proxy node by node.
 */
export function settingsRestarts(
  inventory: Inventory,
  cluster: ClusterUp,
  edited: readonly SettingsPart[],
  work: readonly KubeadmPart[],
): readonly Restart[] {
  const wanted = settingsOf(inventory).cluster;
  const noted = partOf(cluster.settings, 'cluster');
  const patches = editedPatches(inventory, cluster);
  // Every manifest names an image and has the proxy's variables.
  const all = edited.includes('proxy') || edited.includes('images') || isBegun(inventory, cluster, 'cluster');
  const components = COMPONENTS.filter(
    ({ key, pod }) =>
      all || !same(inManifest(wanted, key), inManifest(noted, key)) || patches.some((name) => name.startsWith(pod)),
  );
  const isRewritten = work.includes('cluster') || work.includes('manifests');
  const hosts = cluster.nodes.filter(({ role }) => role === 'control-plane').map(({ name }) => name);
  return [
    ...(isRewritten ? components.map(({ what, aboutMs }) => ({ what, hosts, aboutMs, atOnce: 1 })) : []),
    ...(work.includes('etcd') ? [{ what: 'etcd', hosts, aboutMs: ABOUT_MS.staticPod, atOnce: 1 }] : []),
    ...(work.includes('kubeProxy')
      ? [{ what: 'kube-proxy', hosts: cluster.nodes.map(({ name }) => name), aboutMs: ABOUT_MS.pod, atOnce: 1 }]
      : []),
  ];
}

/**
 * The differences of edited parts, and of `drift`: the cluster's values that differ from `dns`. Not of patches and the
 * proxy, of which the cluster stores only hashes: the changes of their files show these.
 */
export function settingsPreview(
  inventory: Inventory,
  cluster: ClusterUp,
  edited: readonly SettingsPart[],
  drift: readonly string[] = [],
): string {
  return edited
    .flatMap((part) => {
      if (part === 'patches')
        return editedPatches(inventory, cluster).map((name) => `kubeadm.patches: ${name} differs`);
      if (part === 'proxy') return ['proxy: differs'];
      const wanted = settingsOf(inventory)[part];
      const diff = settingsDiff(INVENTORY_NAME[part], notedPart(part, cluster, wanted) ?? {}, wanted);
      if (diff.length > 0) return diff;
      if (isBegun(inventory, cluster, part))
        return [`${INVENTORY_NAME[part]}: a change of it may not have reached all control planes`];
      return part === 'dns' ? drift.map((found) => `dns: found ${found}`) : [];
    })
    .join('\n');
}
