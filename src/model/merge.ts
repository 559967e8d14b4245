import type { JsonObject } from '../shell/decode.ts';

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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
