import { stringify } from 'yaml';
import { revealed, Secret } from './secret.ts';

function plain(value: unknown): unknown {
  if (value instanceof Secret) return revealed(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  return value;
}

/**
 * Objects as YAML documents. Every string is quoted, because a YAML 1.1 parser (Go) reads `1234`, `on` or `1e3` as
 * another type.
 */
export const toYaml = (objects: readonly object[]): string =>
  objects
    .map((object) => stringify(object, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', lineWidth: 0 }))
    .join('---\n');

/** Objects that hold secrets as YAML documents, in one Secret. No other code reveals them into text. */
export const secretYaml = (objects: readonly object[]): Secret =>
  Secret.of(toYaml(objects.map((object) => plain(object) as object)));
