import { stringify } from 'yaml';
import { HASH_ANNOTATION } from '../cluster/fleet/ownership.ts';
import { isObject, type JsonObject } from '../shell/decode.ts';
import { textDiff } from './text-diff.ts';

/** What `live` has in the fields that `desired` names: the API and other programs add fields. */
function namedBy(desired: unknown, live: unknown): unknown {
  if (Array.isArray(desired) && Array.isArray(live)) return live.map((item, i) => namedBy(desired[i], item));
  if (!isObject(desired) || !isObject(live)) return live;
  const named = Object.keys(desired).filter((key) => key in live);
  return Object.fromEntries(named.map((key) => [key, namedBy(desired[key], live[key])]));
}

/** The object without kbuild's hash, and without the values of a Secret. */
function shown(object: JsonObject, other: JsonObject | undefined, age: string): JsonObject {
  const { annotations, ...more } = object['metadata'] as JsonObject;
  const all = isObject(annotations) ? Object.entries(annotations) : [];
  const kept = all.filter(([name]) => name !== HASH_ANNOTATION);
  const hidden = (field: 'data' | 'stringData'): JsonObject => {
    const values = object[field];
    if (!isObject(values)) return {};
    const others = isObject(other?.[field]) ? other[field] : {};
    const hide = (key: string) => [key, values[key] === others[key] ? '(hidden)' : `(hidden, ${age})`];
    return { [field]: Object.fromEntries(Object.keys(values).map(hide)) };
  };
  return {
    ...object,
    metadata: { ...more, ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }) },
    ...(object['kind'] === 'Secret' ? { ...hidden('data'), ...hidden('stringData') } : {}),
  };
}

const yaml = (object: JsonObject): string => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false });

/** How applying `desired` changes a live object, for `plan --diff`. Shows no value of a Secret. */
export function objectPreview(desired: JsonObject, live: JsonObject | undefined): string {
  const { name, namespace } = desired['metadata'] as JsonObject;
  const place = typeof namespace === 'string' ? ` in ${namespace}` : '';
  const head = `${String(desired['kind'])} ${String(name)}${place}`;
  if (live === undefined) return `${head} (new)\n${textDiff('', yaml(shown(desired, undefined, 'new')))}`;
  const before = namedBy(desired, live) as JsonObject;
  const diff = textDiff(yaml(shown(before, desired, 'old')), yaml(shown(desired, before, 'new')));
  return `${head}\n${diff === '' ? '(only fields that the inventory no longer names)' : diff}`;
}
