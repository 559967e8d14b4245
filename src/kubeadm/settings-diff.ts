import { stringify } from 'yaml';
import { same } from '../configuration/compare.ts';
import type { JsonObject } from '../model/inventory.ts';
import { textDiff } from '../resources/text-diff.ts';

/** As JSON has it: without keys that have no value, and with `(secret)` in the place of a secret. */
const plain = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const yaml = (value: unknown): string =>
  value === undefined ? '' : stringify(value, { sortMapEntries: true, lineWidth: 0 });

/** Old and new of settings, each difference under the whole name of its setting: `kubeadm.cluster.apiServer.extraArgs`. */
export function settingsDiff(name: string, before: unknown, after: unknown): readonly string[] {
  const [old, now] = [plain(before), plain(after)];
  if (same(old, now)) return [];
  if (!isObject(old) || !isObject(now)) return [`${name}\n${textDiff(yaml(old), yaml(now))}`];
  const keys = [...new Set([...Object.keys(old), ...Object.keys(now)])].sort();
  return keys.flatMap((key) => settingsDiff(`${name}.${key}`, old[key], now[key]));
}

/** Old and new of those settings of a file that have one of these names; empty where they do not differ. */
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
