import { stringify } from 'yaml';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Restart } from '../engine/step.ts';
import { textDiff } from '../engine/text-diff.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { same } from '../inventory/merge.ts';
import { isObject, type JsonObject } from '../shell/decode.ts';
import type { KubeadmPart } from './apply-settings.ts';
import { COMPONENTS } from './control-plane-files.step.ts';
import { editedPatches, isBegun, notedPart, settingsOf, type SettingsPart } from './settings.ts';

/** The value as JSON: without undefined keys, and with `(secret)` for a secret. */
const plain = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);

const yaml = (value: unknown): string =>
  value === undefined ? '' : stringify(value, { sortMapEntries: true, lineWidth: 0 });

/** The differences of settings, each under the full name of its setting: `kubeadm.cluster.apiServer.extraArgs`. */
function settingsDiff(name: string, before: unknown, after: unknown): readonly string[] {
  const [old, desired] = [plain(before), plain(after)];
  if (same(old, desired)) return [];
  if (!isObject(old) || !isObject(desired)) return [`${name}\n${textDiff(yaml(old), yaml(desired))}`];
  const keys = [...new Set([...Object.keys(old), ...Object.keys(desired)])].sort();
  return keys.flatMap((key) => settingsDiff(`${name}.${key}`, old[key], desired[key]));
}

/** The differences of the settings of a file with one of these names; empty if there are none. */
export function fileDiff(
  path: string,
  before: JsonObject,
  after: JsonObject,
  keys: ReadonlySet<string>,
): readonly string[] {
  const only = (settings: JsonObject): string => {
    const some = Object.entries(settings).filter(([key]) => keys.has(key));
    return some.length === 0 ? '' : yaml(plain(Object.fromEntries(some)));
  };
  const diff = textDiff(only(before), only(after));
  return diff === '' ? [] : [`${path}\n${diff}`];
}

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
