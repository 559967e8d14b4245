import { same } from '../configuration/compare.ts';
import { settingsOf } from '../configuration/settings.ts';
import { Refused } from '../errors.ts';
import type { Inventory, JsonObject } from '../model/inventory.ts';

/** Settings of `kubeadm.cluster` that kbuild can change on a live cluster: it rewrites the control plane's manifests. */
const CHANGEABLE: readonly string[] = [
  ...['apiServer', 'controllerManager', 'scheduler'].flatMap((key) =>
    ['extraArgs', 'extraVolumes', 'extraEnvs'].map((name) => `${key}.${name}`),
  ),
  // The step `api-server-names` has signed the certificates by then.
  'apiServer.certSANs',
];

/** Those of etcd, where control planes have its manifest: kubeadm has a phase for it there. */
const CHANGEABLE_OF_STACKED = ['etcd.local.extraArgs', 'etcd.local.extraEnvs'];

const keysOf = (...objects: readonly (JsonObject | undefined)[]): readonly string[] => [
  ...new Set(objects.flatMap((object) => Object.keys(object ?? {}))),
];

const inner = (object: JsonObject | undefined, key: string): JsonObject | undefined =>
  object?.[key] as JsonObject | undefined;

/** Edited settings at a path that kbuild cannot apply to a live cluster. */
function fixedEdits(
  changeable: readonly string[],
  wanted: JsonObject | undefined,
  noted: JsonObject | undefined,
  path = '',
): readonly string[] {
  return keysOf(wanted, noted)
    .filter((key) => !same(wanted?.[key], noted?.[key]))
    .flatMap((key) => {
      const at = `${path}${key}`;
      if (changeable.includes(at)) return [];
      return changeable.some((one) => one.startsWith(`${at}.`))
        ? fixedEdits(changeable, inner(wanted, key), inner(noted, key), `${at}.`)
        : [`kubeadm.cluster.${at}`];
    });
}

/** @throws Refused if a setting of `kubeadm.cluster` was edited that kbuild cannot apply to a live cluster; `noted`: all settings that it has */
export function refuseFixed(inventory: Inventory, noted: JsonObject | undefined): void {
  const changeable = inventory.etcd.topology === 'stacked' ? [...CHANGEABLE, ...CHANGEABLE_OF_STACKED] : CHANGEABLE;
  const fixed = fixedEdits(changeable, settingsOf(inventory).cluster, inner(noted, 'cluster'));
  if (fixed.length > 0)
    throw new Refused(
      inventory.name,
      `${fixed.join(', ')} was edited, and kbuild cannot change it on a live cluster`,
      'set it back to what the cluster was made with',
    );
}
