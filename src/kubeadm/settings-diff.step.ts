import { stringify } from 'yaml';
import { textDiff } from '../engine/text-diff.ts';
import { same } from '../inventory/merge.ts';
import { isObject, type JsonObject } from '../shell/decode.ts';

/** The value as JSON: without undefined keys, and with `(secret)` for a secret. */
const plain = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);

const yaml = (value: unknown): string =>
  value === undefined ? '' : stringify(value, { sortMapEntries: true, lineWidth: 0 });

/** The differences of settings, each under the full name of its setting: `kubeadm.cluster.apiServer.extraArgs`. */
export function settingsDiff(name: string, before: unknown, after: unknown): readonly string[] {
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
