import { inventoryJsonSchema } from '../schema/schema.ts';

/** A setting of the inventory, as its schema describes it. */
export interface Setting {
  /** `hosts[].labels`, `groups.NAME.taints[].key`; empty for the whole inventory. */
  readonly path: string;
  /** What it is for. Markdown. */
  readonly meaning: string;
  /** What it takes, in Markdown: `text`, `1–65535`, the allowed values. */
  readonly type: string;
  /** The only values that it takes, where they are a list. */
  readonly allowed: readonly string[];
  /** undefined: none, or `meaning` says what it depends on. */
  readonly default: unknown;
  readonly isRequired: boolean;
  /** Values that it takes; the first one is the one to show. */
  readonly examples: readonly unknown[];
  /** The settings in it, by name. */
  readonly inside: ReadonlyMap<string, Setting>;
  /**
   * `names`: the operator chooses names, each of which has the settings in it. `anything`: names of another program, or
   * free ones.
   */
  readonly keys: 'settings' | 'names' | 'anything' | 'none';
}

/** The parts of JSON Schema that describe the inventory. */
interface Described {
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly Described[];
  readonly items?: Described;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Described | false;
}

const code = (text: string): string => `\`${text}\``;

const typeOf = (described: Described): string => {
  const { type, minimum, maximum } = described;
  if (described.const !== undefined) return code(described.const);
  if (described.enum !== undefined) return described.enum.map(code).join(', ');
  if (described.anyOf !== undefined) return described.anyOf.map(typeOf).join(' or ');
  if (type === 'array') return `list of ${typeOf(described.items ?? {}).replaceAll('mapping', 'mappings')}`;
  if (type === 'object') return 'mapping';
  if (type === 'boolean') return '`true`, `false`';
  if (type === 'integer') return `${minimum ?? ''}–${maximum ?? ''}`;
  return 'text';
};

/** Where fields are, and how the path to them begins: in the value itself, in the items of a list, below names. */
interface Fields {
  readonly described: Described;
  readonly step: '' | '[]' | '.NAME';
}

/** The fields of a value; of a union, those of the first member that has any. */
function fieldsOf(described: Described): Fields | undefined {
  if (described.properties !== undefined) return { described, step: '' };
  if (described.items !== undefined) {
    const inner = fieldsOf(described.items);
    return inner === undefined ? undefined : { described: inner.described, step: '[]' };
  }
  const named = described.additionalProperties || undefined;
  if (named?.properties !== undefined) return { described: named, step: '.NAME' };
  return described.anyOf?.map(fieldsOf).find((fields) => fields !== undefined);
}

/** The values that a setting takes only, also those of a list or of a member of a union. */
const allowedIn = ({ enum: values, const: only, anyOf = [] }: Described): readonly string[] =>
  values ?? (only === undefined ? anyOf.flatMap(allowedIn) : [only]);

const isFree = ({ type, properties, additionalProperties, anyOf = [] }: Described): boolean =>
  (type === 'object' && properties === undefined && additionalProperties !== false) || anyOf.some(isFree);

/** A value that shows the setting at work: its own examples, else a value that is allowed and not the default. */
function examplesOf(described: Described): readonly unknown[] {
  const { type, examples, minimum, items, anyOf = [] } = described;
  if (examples !== undefined) return examples;
  if (described.default !== undefined && JSON.stringify(described.default) !== '{}') {
    const other = allowedIn(described).find((value) => value !== described.default);
    if (other !== undefined) return [other];
    if (typeof described.default === 'boolean') return [!described.default];
    if (JSON.stringify(described.default) !== '[]') return [described.default];
  }
  const [allowed] = allowedIn(described);
  if (allowed !== undefined) return [allowed];
  if (type === 'boolean') return [true];
  if (type === 'integer' && minimum !== undefined) return [minimum];
  if (type === 'array' && items !== undefined) return examplesOf(items).map((item) => [item]);
  return anyOf.map(examplesOf).find((found) => found.length > 0) ?? [];
}

function settingOf(path: string, described: Described, isRequired: boolean): Setting {
  const fields = fieldsOf(described);
  const inner = Object.entries(fields?.described.properties ?? {});
  const prefix = path === '' ? '' : `${path}${fields?.step ?? ''}.`;
  return {
    path,
    meaning: described.description ?? '',
    type: typeOf(described),
    allowed: allowedIn(described),
    default: described.default,
    isRequired,
    examples: examplesOf(described),
    inside: new Map(
      inner.map(([name, one]) => [
        name,
        settingOf(`${prefix}${name}`, one, fields?.described.required?.includes(name) === true),
      ]),
    ),
    keys:
      fields !== undefined ? (fields.step === '.NAME' ? 'names' : 'settings') : isFree(described) ? 'anything' : 'none',
  };
}

/** The whole inventory as one setting: the source of docs/inventory.md and of `kbuild explain`. */
export const inventorySettings = (): Setting => settingOf('', inventoryJsonSchema(), true);

/** A setting and all settings in it. */
export const withInner = (setting: Setting): readonly Setting[] => [
  setting,
  ...[...setting.inside.values()].flatMap(withInner),
];

/**
 * The setting at a path as people write it: `hosts[].labels`, `hosts[0].labels`, `hosts.labels`, `groups.gpu.labels`. A
 * path into free names (`kubelet.config.maxPods`) is the setting that holds them. undefined: there is none.
 */
export function settingAt(root: Setting, path: string): Setting | undefined {
  let setting = root;
  for (const name of path.replaceAll(/\[[^[\]]*\]/g, '').split('.')) {
    if (setting.keys === 'anything') return setting;
    const inner = setting.inside.get(name);
    if (inner !== undefined) setting = inner;
    else if (setting.keys !== 'names') return undefined;
  }
  return setting;
}
