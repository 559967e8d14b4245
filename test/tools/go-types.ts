import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A field of a Go struct that encoding/json knows. */
interface GoField {
  /** Its name in JSON; empty for an embedded struct whose fields are the struct's own. */
  readonly name: string;
  /** As the sources write it, without `*`. */
  readonly type: string;
  readonly doc: string;
}

/** The types of one Go package. */
interface GoPackage {
  readonly folder: string;
  readonly structs: ReadonlyMap<string, readonly GoField[]>;
  /** `type Name string` */
  readonly named: ReadonlyMap<string, string>;
  /** Constants of a type of text. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** Name of an imported package in the files → its path. */
  readonly imports: ReadonlyMap<string, string>;
}

/** Finds the folder of a package by its import path; undefined for one whose types are given. */
type FolderOf = (importPath: string) => string | undefined;

const texts = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.go') && !/_test\.go$|^zz_generated/.test(name))
        .map((name) => readFileSync(join(folder, name), 'utf8'))
    : [];

/** The words of a doc comment, without markers of generators, and what a reader of the inventory needs not. */
const docOf = (lines: readonly string[]): string =>
  lines
    .filter((line) => !/^\+|^\s*---+$/.test(line))
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

function fieldsOf(body: string): readonly GoField[] {
  const fields: GoField[] = [];
  let comment: string[] = [];
  for (const line of body.split('\n')) {
    const [, words] = /^\s*\/\/ ?(.*)$/.exec(line) ?? [];
    if (words !== undefined) {
      comment.push(words);
      continue;
    }
    const [, name, type, tag] = /^\t(?:([A-Z]\w*)\s+)?([*\w.[\]]+)\s+`(?:.*\s)?json:"([^"]*)"/.exec(line) ?? [];
    if (type !== undefined && tag !== undefined && tag !== '-' && !(name === undefined && type.endsWith('TypeMeta'))) {
      const [json = '', ...options] = tag.split(',');
      const isInline = json === '' && (options.includes('inline') || name === undefined);
      fields.push({
        name: isInline ? '' : json === '' ? name! : json,
        type: type.replaceAll('*', ''),
        doc: docOf(comment),
      });
    }
    comment = [];
  }
  return fields;
}

/** Reads the types that the files of a folder declare, as gofmt writes them. */
function goPackage(folder: string): GoPackage {
  const files = texts(folder);
  const all = <T>(pattern: RegExp, entry: (found: RegExpMatchArray) => readonly [string, T]) =>
    new Map(files.flatMap((text) => [...text.matchAll(pattern)].map(entry)));
  const values = new Map<string, string[]>();
  for (const text of files)
    for (const [, type, value] of text.matchAll(/^\s+[A-Z]\w*\s+([A-Z]\w*)\s+= "([^"]*)"/gm))
      values.set(type!, [...(values.get(type!) ?? []), value!]);
  return {
    folder,
    values,
    structs: all(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm, ([, name, body]) => [name!, fieldsOf(body!)]),
    named: all(/^type (\w+) ((?:\[\]|map\[string\])*[\w.]+)$/gm, ([, name, type]) => [name!, type!]),
    imports: all(/^\s+(?:(\w+) )?"([a-z][\w./-]+)"$/gm, ([, alias, path]) => [
      alias ?? path!.split('/').at(-1)!,
      path!,
    ]),
  };
}

/** A type as the tables name it: `text`, `[]Arg`, `{}bool`; a name with a capital is one of `types` or `enums`. */
type TypeName = string;

/** What is reachable from some types: the fields of each struct, and the values of each enumeration. */
export interface GoTypes {
  readonly types: ReadonlyMap<string, ReadonlyMap<string, { readonly type: TypeName; readonly doc: string }>>;
  readonly enums: ReadonlyMap<string, readonly string[]>;
}

const SCALARS: Readonly<Record<string, TypeName>> = {
  string: 'text',
  bool: 'bool',
  int: 'int64',
  int32: 'int32',
  int64: 'int64',
  uint32: 'uint32',
  float32: 'number',
  float64: 'number',
  'time.Duration': 'int64',
  '[]byte': 'text',
};

/** Types that read their JSON themselves. */
const OWN_FORMS: Readonly<Record<string, TypeName>> = {
  'meta/v1.Duration': 'duration',
  'meta/v1.Time': 'time',
  'api/resource.Quantity': 'quantity',
  'api/resource.QuantityValue': 'quantity',
  'logs/api/v1.TimeOrMetaDuration': 'nanoseconds',
  'pkg/runtime.RawExtension': 'any',
  'bootstraptoken/v1.BootstrapTokenString': 'text',
  // What refers to other objects of the cluster, which no static pod can have.
  'core/v1.EnvVarSource': 'any',
  'core/v1.ResourceList': '{}quantity',
  'util/intstr.IntOrString': 'any',
};

/**
 * All types that these name, directly or not. `valuesElsewhere`: types of text whose constants are in another package.
 * @throws Error for two types of one name with other fields, and for a type
 * whose package is not found
 */
export function reachedTypes(
  folder: string,
  roots: readonly string[],
  folderOf: FolderOf,
  valuesElsewhere: readonly string[] = [],
): GoTypes {
  const packages = new Map<string, GoPackage>();
  const types = new Map<string, Map<string, { readonly type: TypeName; readonly doc: string }>>();
  const homes = new Map<string, string>();
  const enums = new Map<string, readonly string[]>();
  const packageAt = (at: string): GoPackage => {
    const found = packages.get(at) ?? goPackage(at);
    packages.set(at, found);
    return found;
  };
  const claim = (name: string, home: string): void => {
    if ((homes.get(name) ?? home) !== home) throw new Error(`${name} is in ${homes.get(name)!} and in ${home}`);
    homes.set(name, home);
  };

  const inlined = (from: GoPackage, name: string): Map<string, { readonly type: TypeName; readonly doc: string }> => {
    const fields = new Map<string, { readonly type: TypeName; readonly doc: string }>();
    for (const field of from.structs.get(name)!) {
      if (field.name !== '') fields.set(field.name, { type: shape(from, field.type), doc: field.doc });
      else {
        const [home, own] = homeOf(from, field.type);
        for (const [inner, one] of inlined(home, own)) fields.set(inner, one);
      }
    }
    return fields;
  };

  const homeOf = (from: GoPackage, type: string): readonly [GoPackage, string] => {
    if (!type.includes('.')) return [from, type];
    const [alias, name] = type.split('.') as [string, string];
    const path = from.imports.get(alias);
    const at = path === undefined ? undefined : folderOf(path);
    if (at === undefined) throw new Error(`${from.folder}: no package for ${type}`);
    return [packageAt(at), name];
  };

  const shape = (from: GoPackage, type: string): TypeName => {
    if (type in SCALARS) return SCALARS[type]!;
    if (type.startsWith('[]')) return `[]${shape(from, type.slice(2))}`;
    if (type.startsWith('map[string]')) return `{}${shape(from, type.slice('map[string]'.length))}`;
    const path = type.includes('.') ? from.imports.get(type.split('.')[0]!) : from.folder.replace(/@v[\d.]+/, '');
    const own = Object.entries(OWN_FORMS).find(([name]) => `${path ?? ''}.${type.split('.').at(-1)!}`.endsWith(name));
    if (own !== undefined) return own[1];
    const [home, name] = homeOf(from, type);
    const values = home.values.get(name);
    const named = home.named.get(name);
    if (named === 'string' && (values !== undefined || valuesElsewhere.includes(name))) {
      claim(name, home.folder);
      if (values !== undefined) enums.set(name, values);
      return name;
    }
    if (named !== undefined) return shape(home, named);
    if (!home.structs.has(name)) throw new Error(`${home.folder}: no type ${name}`);
    claim(name, home.folder);
    if (!types.has(name)) {
      types.set(name, new Map());
      types.set(name, inlined(home, name));
    }
    return name;
  };

  for (const root of roots) shape(packageAt(folder), root);
  return { types, enums };
}
