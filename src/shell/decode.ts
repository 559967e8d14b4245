import { parse as parseYaml } from 'yaml';
import { FactError, KbuildError } from '../errors.ts';
import { Secret } from './secret.ts';
import { excerpt } from './text.ts';

/**
 * What `read` makes of an object of the cluster that was observed before, by the functions of `shell/decode.ts`.
 * @throws FactError of the control plane that sent it, if it has another form: it is neither the one nor the other
 */
export function ofCluster<T>({ via }: { readonly via: string }, what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof KbuildError) throw error;
    throw new FactError(via, what, excerpt(error instanceof Error ? error.message : String(error)));
  }
}

/** A value of JSON or YAML with named fields. */
export type JsonObject = { readonly [key: string]: unknown };

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : typeof value;

/** True for a value with named fields. A list has none, and those of a secret are not to be seen. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Secret);

/** A value of JSON or YAML that is an object. Throws on any other. */
export function objectOf(value: unknown): JsonObject {
  if (!isObject(value)) throw new Error(`unexpected output: ${kindOf(value)} where an object was expected`);
  return value;
}

/** A value that is a list of objects; none where it is missing. Throws on any other. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new Error(`unexpected output: ${kindOf(value)} where a list was expected`);
  return value.map(objectOf);
}

/** A value that is a text; `otherwise` where it is missing. Throws on any other. */
export function textIn(value: unknown, otherwise?: string): string {
  if (value === undefined && otherwise !== undefined) return otherwise;
  if (typeof value !== 'string') throw new Error(`unexpected output: ${kindOf(value)} where a text was expected`);
  return value;
}

/** A value that is a number; `otherwise` where it is missing. Throws on any other. */
export function numberIn(value: unknown, otherwise?: number): number {
  if (value === undefined && otherwise !== undefined) return otherwise;
  if (typeof value !== 'number') throw new Error(`unexpected output: ${kindOf(value)} where a number was expected`);
  return value;
}

/** A value that is true or false; false where it is missing. Throws on any other. */
export function flagIn(value: unknown): boolean {
  if (value === undefined) return false;
  if (typeof value !== 'boolean')
    throw new Error(`unexpected output: ${kindOf(value)} where true or false was expected`);
  return value;
}

/** A value that is an object of texts, such as labels; empty where it is missing. Throws on any other. */
export function textsOf(value: unknown): Readonly<Record<string, string>> {
  const texts = objectOf(value ?? {});
  for (const text of Object.values(texts)) textIn(text);
  return texts as Readonly<Record<string, string>>;
}

/** A value that is a list of texts; none where it is missing. Throws on any other. */
export function textsIn(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new Error(`unexpected output: ${kindOf(value)} where a list was expected`);
  return value.map((text) => textIn(text));
}

/** An object's field that is an object; empty where it or the object is missing. Throws on any other. */
export const within = (value: unknown, ...keys: readonly string[]): JsonObject =>
  keys.reduce<JsonObject>((found, key) => objectOf(found[key] ?? {}), objectOf(value ?? {}));

/** A kubeconfig, and its clusters with their own fields. */
interface KubeconfigSeen {
  readonly whole: JsonObject;
  readonly clusters: readonly { readonly entry: JsonObject; readonly cluster: JsonObject }[];
}

/** The text of a kubeconfig. Throws on another. */
export function kubeconfigOf(text: string): KubeconfigSeen {
  const whole = objectOf(parseYaml(text) ?? {});
  return {
    whole,
    clusters: objectsOf(whole['clusters']).map((entry) => ({ entry, cluster: within(entry, 'cluster') })),
  };
}

/** The same kubeconfig with these fields in each of its clusters. */
export const withInClusters = ({ whole, clusters }: KubeconfigSeen, fields: JsonObject): JsonObject => ({
  ...whole,
  clusters: clusters.map(({ entry, cluster }) => ({ ...entry, cluster: { ...cluster, ...fields } })),
});

/** The items of a list as the API sends it. Throws on any other text. */
export function itemsOf(json: string): readonly JsonObject[] {
  const { items } = objectOf(JSON.parse(json));
  if (!Array.isArray(items)) throw new Error(`unexpected output: ${kindOf(items)} where a list was expected`);
  return items.map(objectOf);
}
