import { isObject, type JsonObject } from '../../shell/decode.ts';
import { Secret } from '../../shell/secret.ts';
import { unquoted } from '../../shell/text.ts';
import type { Inventory } from '../inventory.ts';

/** Texts of a JSON document, however deep. */
function texts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : [];
}

/** A value, and the parts of it that stand alone elsewhere: texts of a JSON document, right sides of `name=value`. */
function parts(value: string): readonly string[] {
  const sides = value.split('\n').flatMap((line) => {
    const [, side] = /^\s*[\w.-]+\s*[=:](.*)/.exec(line) ?? [];
    return side === undefined ? [] : [unquoted(side)];
  });
  try {
    return [value, ...sides, ...texts(JSON.parse(value) as unknown)];
  } catch {
    return [value, ...sides];
  }
}

function valuesOf(object: JsonObject): readonly string[] {
  if (object['kind'] !== 'Secret') return [];
  const { data, stringData } = object;
  const encoded = isObject(data) ? Object.values(data).filter((value) => typeof value === 'string') : [];
  const plain = isObject(stringData) ? Object.values(stringData).filter((value) => typeof value === 'string') : [];
  const decoded = encoded.map((value) => Buffer.from(value, 'base64').toString());
  return [...encoded, ...[...decoded, ...plain].flatMap(parts)];
}

/** The values in Secret objects of an inventory's manifests: `data` as written and decoded, and `stringData`. */
export const secretData = ({ manifests, network }: Inventory): readonly Secret[] =>
  [...manifests, ...network.manifests]
    .flatMap(({ objects }) => objects.flatMap(valuesOf))
    .map((value) => Secret.of(value));
