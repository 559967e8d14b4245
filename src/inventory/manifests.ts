import { LineCounter, parseAllDocuments, type Document, type ScalarTag, type Tags } from 'yaml';
import type { JsonObject } from '../shell/decode.ts';

/** kubectl's YAML follows YAML 1.1 here: `0644` is octal, yes and no are booleans. */
const OCTAL: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?0[0-7]+$/,
  resolve: (text) => Number.parseInt(text, 8),
};
const YES_NO: ScalarTag = {
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  test: /^(?:yes|Yes|YES|on|On|ON|no|No|NO|off|Off|OFF)$/,
  resolve: (text) => /^(?:yes|on)$/i.test(text),
};
const customTags = (tags: Tags): Tags => [OCTAL, YES_NO, ...tags];

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The flaw of a manifest: `source:line:column: message`. */
class ManifestError extends Error {}

function identified(value: unknown, place: string): JsonObject {
  if (!isObject(value)) throw new ManifestError(`${place}: is no Kubernetes object`);
  const metadata = value['metadata'];
  for (const field of ['apiVersion', 'kind'] as const)
    if (typeof value[field] !== 'string') throw new ManifestError(`${place}: an object needs ${field}`);
  if (!isObject(metadata) || typeof metadata['name'] !== 'string')
    throw new ManifestError(`${place}: an object needs metadata.name`);
  return value;
}

/** The objects of a multi-document YAML or JSON text; a `List` becomes its items. Throws `ManifestError` with the place. */
export function manifestObjects(text: string, source: string): readonly JsonObject[] {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false, merge: true, customTags });
  if ('empty' in documents) return [];
  const at = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `${source}:${line}:${col}`;
  };
  return (documents as readonly Document.Parsed[]).flatMap((document) => {
    const [error] = [...document.errors, ...document.warnings];
    if (error !== undefined) throw new ManifestError(`${at(error.pos[0])}: is not valid YAML: ${error.message}`);
    const place = at(document.contents?.range[0] ?? document.range[0]);
    let value: unknown;
    try {
      value = document.toJS({ maxAliasCount: 100 });
    } catch (error) {
      throw new ManifestError(`${place}: ${error instanceof Error ? error.message : 'cannot be read'}`);
    }
    if (value === null || value === undefined) return [];
    if (isObject(value) && typeof value['kind'] === 'string' && value['kind'].endsWith('List')) {
      const items = value['items'];
      if (Array.isArray(items)) return items.map((item) => identified(item, place));
    }
    return [identified(value, place)];
  });
}
