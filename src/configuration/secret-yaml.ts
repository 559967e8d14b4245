import { stringify } from 'yaml';
import { revealed, Secret } from '../shell/secret.ts';

function plain(value: unknown): unknown {
  if (value instanceof Secret) return revealed(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  return value;
}

/**
 * Objects as YAML documents. Every string is quoted, because readers of YAML 1.1 (Go) would take `1234`, `on` or `1e3`
 * for something else.
 */
export const toYaml = (objects: readonly object[]): string =>
  objects
    .map((object) => stringify(object, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', lineWidth: 0 }))
    .join('---\n');

/** Objects that hold secrets as YAML documents: the one place that reveals them into text, which is a Secret itself. */
export const secretYaml = (objects: readonly object[]): Secret =>
  Secret.of(toYaml(objects.map((object) => plain(object) as object)));
