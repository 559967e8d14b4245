import { type Document, LineCounter, parseAllDocuments, type ScalarTag, type Tags } from 'yaml';

/** YAML of kubectl and Helm follows YAML 1.1 here: `0644` is octal, yes and no are booleans. */
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

/** The flaw of a YAML text: `source:line:column: message`. */
export class YamlError extends Error {}

/** A document of a YAML text, with its place in it: `source:line:column`. */
interface ReadDocument {
  readonly place: string;
  readonly value: unknown;
}

/** The documents of a YAML or JSON text that was written for kubectl or Helm, as these read it. @throws YamlError */
export function documentsIn(text: string, source: string): readonly ReadDocument[] {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false, merge: true, customTags });
  if ('empty' in documents) return [];
  const at = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `${source}:${line}:${col}`;
  };
  return (documents as readonly Document.Parsed[]).map((document) => {
    const [error] = [...document.errors, ...document.warnings];
    if (error !== undefined) throw new YamlError(`${at(error.pos[0])}: is not valid YAML: ${error.message}`);
    const place = at(document.contents?.range[0] ?? document.range[0]);
    try {
      return { place, value: document.toJS({ maxAliasCount: 100 }) as unknown };
    } catch (error) {
      throw new YamlError(`${place}: ${error instanceof Error ? error.message : 'cannot be read'}`);
    }
  });
}
