import type { JsonObject } from '../model/inventory.ts';

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : typeof value;

/** A value of JSON or YAML that is an object. Throws on any other. */
export function objectOf(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`unexpected output: ${kindOf(value)} where an object was expected`);
  return value as JsonObject;
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

/** A value that is an object of texts, such as labels; empty where it is missing. Throws on any other. */
export function textsOf(value: unknown): Readonly<Record<string, string>> {
  const texts = objectOf(value ?? {});
  for (const text of Object.values(texts)) textIn(text);
  return texts as Readonly<Record<string, string>>;
}

/** The items of a list as the API sends it. Throws on any other text. */
export function itemsOf(json: string): readonly JsonObject[] {
  const { items } = objectOf(JSON.parse(json));
  if (!Array.isArray(items)) throw new Error(`unexpected output: ${kindOf(items)} where a list was expected`);
  return items.map(objectOf);
}
