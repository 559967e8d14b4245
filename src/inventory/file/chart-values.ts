import { isObject, type JsonObject } from '../../shell/decode.ts';
import { revealed, type Secret } from '../../shell/secret.ts';
import { laidOver } from '../merge.ts';
import type { ChartEntry } from '../schema/charts.ts';
import type { PlacedChart } from './manifests.ts';
import type { Reader } from './reader.ts';
import { documentsIn, YamlError } from './yaml-of-others.ts';

/** What a chart's values have from elsewhere. */
export interface ReadValues {
  /** Of `valuesFiles`, in their order. */
  readonly files: readonly JsonObject[];
  /** Of `secretValues`, in their order. */
  readonly secrets: readonly Secret[];
}

/** The values of a file. @throws YamlError where it is more, or something else, than one mapping */
function valuesIn(text: string, file: string): JsonObject {
  const [first, second] = documentsIn(text, file);
  if (second !== undefined) throw new YamlError(`${second.place}: a values file is one document: name each file alone`);
  // A file of comments alone has no value.
  const { place = file, value = null } = first ?? {};
  if (value === null) return {};
  if (!isObject(value)) throw new YamlError(`${place}: must be a mapping of values`);
  return value;
}

/** Reads the files and secrets of a chart's values. Reports what cannot be read. */
export async function readValues(reader: Reader, { path, entry }: PlacedChart): Promise<ReadValues> {
  const file = async (name: string, i: number): Promise<JsonObject> => {
    const at = [...path, 'valuesFiles', i];
    const text = await reader.text(at, name);
    return reader.attempt(at, 'values', () => Promise.resolve(valuesIn(text, name)), {});
  };
  const secret = ([at, reference]: readonly [string, string]): Promise<Secret> =>
    reader.password([...path, 'secretValues', at], reference);
  return {
    files: await Promise.all(entry.valuesFiles.map(file)),
    secrets: await Promise.all(Object.entries(entry.secretValues).map(secret)),
  };
}

/** Values with a secret at its path. @throws Error where a value that is no mapping is in the way */
function withSecret(values: JsonObject, path: readonly string[], secret: string): JsonObject {
  const [key, ...rest] = path as [string, ...string[]];
  if (rest.length === 0) return { ...values, [key]: secret };
  const inner = values[key] ?? {};
  if (!isObject(inner)) throw new Error(`values.${key} is no mapping`);
  return { ...values, [key]: withSecret(inner, rest, secret) };
}

/** The values that Helm gets: of the files in their order, over them `values`, over all the secret ones. */
export const valuesOf = ({ values, secretValues }: ChartEntry, { files, secrets }: ReadValues): JsonObject =>
  Object.keys(secretValues).reduce(
    (known, at, i) => withSecret(known, at.split('.'), revealed(secrets[i]!)),
    [...files, values].reduce(laidOver, {}),
  );

/** A text of Helm without the secret values that it may repeat. */
export const withoutSecrets = (text: string, secrets: readonly Secret[]): string =>
  secrets
    .map(revealed)
    .filter((secret) => secret !== '')
    .reduce((shown, secret) => shown.replaceAll(secret, '(secret)'), text);
