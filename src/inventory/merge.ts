import { isObject, type JsonObject } from '../shell/decode.ts';

/** The settings that all objects share, key by key; a list counts as one value. */
export function common(objects: readonly JsonObject[]): JsonObject {
  const [first, ...others] = objects;
  if (first === undefined) return {};
  return Object.fromEntries(
    Object.entries(first).flatMap(([key, value]) => {
      if (!others.every((other) => Object.hasOwn(other, key))) return [];
      const values = others.map((other) => other[key]);
      if (isObject(value) && values.every(isObject)) return [[key, common([value, ...values])]];
      return values.every((other) => same(other, value)) ? [[key, value]] : [];
    }),
  );
}

/** The JSON merge patch that turns `part` into `whole`. `part` must have no keys that `whole` lacks. */
export function beyond(whole: JsonObject, part: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(whole).flatMap(([key, value]) => {
      const known = part[key];
      if (isObject(value) && isObject(known)) {
        const inner = beyond(value, known);
        return Object.keys(inner).length === 0 ? [] : [[key, inner]];
      }
      return same(value, known) ? [] : [[key, value]];
    }),
  );
}

/** Structural equality of JSON values; the order of keys does not matter. */
export function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => same(item, b[index]));
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
  }
  return a === b;
}

/**
 * True if `live` has every setting of `desired`; it may have more. An empty object, list or string equals a missing
 * key, because Go omits empty fields. `false` and `0` must be present: a default may differ.
 */
export function holds(desired: unknown, live: unknown): boolean {
  if (live === undefined || live === null) return isEmpty(desired);
  if (Array.isArray(desired)) {
    return (
      Array.isArray(live) &&
      live.length === desired.length &&
      desired.every((item, index) => holds(item, live[index] as unknown))
    );
  }
  if (isObject(desired))
    return isObject(live) && Object.entries(desired).every(([key, value]) => holds(value, live[key]));
  return desired === live;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isObject(value) && Object.values(value).every(isEmpty));

/** Lists of `{name, value}` in kubeadm's v1beta4 that are merged by name. */
const ARGUMENT_LISTS: ReadonlySet<string> = new Set(['extraArgs', 'kubeletExtraArgs', 'extraEnvs']);

/** An argument, or a variable of an environment. */
export interface Named {
  readonly name: string;
}

const isNamed = (value: unknown): value is Named => isObject(value) && typeof value['name'] === 'string';

/** Arguments of both lists; those of `over` replace all of the same name, in the place of the first. */
export function mergedArguments<A extends Named>(base: readonly A[], over: readonly A[]): readonly A[] {
  const replaced = new Set(over.map(({ name }) => name));
  const known = new Set(base.map(({ name }) => name));
  const placed = new Set<string>();
  const kept = base.flatMap((argument) => {
    if (!replaced.has(argument.name)) return [argument];
    if (placed.has(argument.name)) return [];
    placed.add(argument.name);
    return over.filter(({ name }) => name === argument.name);
  });
  return [...kept, ...over.filter(({ name }) => !known.has(name))];
}

/**
 * `over` laid over `base`: mappings are merged, lists replaced, argument lists merged by name, and a null takes the
 * field away. Neither is changed.
 */
export function merged(base: JsonObject, over: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const old = base[key];
    if (value === null) Reflect.deleteProperty(result, key);
    else if (isObject(value)) result[key] = merged(isObject(old) ? old : {}, value);
    else if (
      ARGUMENT_LISTS.has(key) &&
      Array.isArray(value) &&
      value.every(isNamed) &&
      Array.isArray(old) &&
      old.every(isNamed)
    )
      result[key] = mergedArguments(old, value);
    else result[key] = value;
  }
  return result;
}

/**
 * `over` laid over `base` as Helm lays values files: mappings are merged, all else replaced, and a null stays, which
 * has Helm drop the chart's own default.
 */
export const laidOver = (base: JsonObject, over: JsonObject): JsonObject => ({
  ...base,
  ...Object.fromEntries(
    Object.entries(over).map(([key, value]) => {
      const below = base[key];
      return [key, isObject(value) && isObject(below) ? laidOver(below, value) : value];
    }),
  ),
});
