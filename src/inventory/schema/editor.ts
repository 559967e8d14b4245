import { fieldNames, fieldOf, isStruct, valuesOf } from '../../kubeadm/tables.value.ts';
import { minorNumber, supportedMinors } from '../../versions.ts';
import { inventoryJsonSchema } from './schema.ts';

type Schema = Readonly<Record<string, unknown>>;

const MINORS = supportedMinors.map(minorNumber).toReversed();

const SCALARS: Readonly<Record<string, string>> = {
  text: 'string',
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer',
  uint32: 'integer',
  number: 'number',
  duration: 'string',
  time: 'string',
};

/** The newest minor that kbuild builds and that knows the field; undefined: none. */
const fieldIn = (type: string, name: string) =>
  MINORS.map((minor) => fieldOf(type, name, minor)).find((field) => field !== undefined);

/** A value of a type. null takes a field away, so that every one may be null. */
function schemaOf(type: string, pending: Set<string>): Schema {
  if (type.startsWith('[]')) return { type: ['array', 'null'], items: schemaOf(type.slice(2), pending) };
  if (type.startsWith('{}'))
    return { type: ['object', 'null'], additionalProperties: schemaOf(type.slice(2), pending) };
  if (isStruct(type)) {
    pending.add(type);
    return { $ref: `#/$defs/${type}` };
  }
  const values = new Set(MINORS.flatMap((minor) => valuesOf(type, minor) ?? []));
  if (values.size > 0) return { enum: ['', ...values, null].filter((one, i, all) => all.indexOf(one) === i) };
  const scalar = SCALARS[type];
  return scalar === undefined ? {} : { type: [scalar, 'null'] };
}

function structOf(type: string, pending: Set<string>): Schema {
  const names = [...new Set(MINORS.flatMap((minor) => fieldNames(type, minor)))];
  const properties = Object.fromEntries(
    names.map((name) => {
      const field = fieldIn(type, name)!;
      const schema = schemaOf(field.type, pending);
      return [name, field.documentation === '' ? schema : { description: field.documentation, ...schema }];
    }),
  );
  return { type: ['object', 'null'], properties, additionalProperties: false };
}

/** The types that overrides have, and all in them. */
function definitions(roots: readonly string[]): Schema {
  const pending = new Set(roots);
  const made: Record<string, Schema> = {};
  for (const type of pending) made[type] = structOf(type, pending);
  return made;
}

const KUBEADM: Readonly<Record<string, string>> = {
  init: 'InitConfiguration',
  cluster: 'ClusterConfiguration',
  join: 'JoinConfiguration',
  kubeProxy: 'KubeProxyConfiguration',
  reset: 'ResetConfiguration',
};

/** The schema with what is at a path below another one's description. */
const typed = (found: Schema, type: string): Schema => {
  const { description, default: preset, examples } = found;
  return { description, default: preset, examples, allOf: [{ $ref: `#/$defs/${type}` }] };
};

/** Refers from `kubelet.config` and `kubeadm.*`, at every level, to the types of their fields. */
function withTypes(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => withTypes(one));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key !== 'properties' || typeof inner !== 'object' || inner === null) return [key, withTypes(inner, key)];
      const types: Readonly<Record<string, string>> =
        name === 'kubelet' ? { config: 'KubeletConfiguration' } : name === 'kubeadm' ? KUBEADM : {};
      return [
        key,
        Object.fromEntries(
          Object.entries(inner as Schema).map(([setting, one]) => {
            const type = types[setting];
            return [setting, type === undefined ? withTypes(one, setting) : typed(one as Schema, type)];
          }),
        ),
      ];
    }),
  );
}

/**
 * The JSON Schema of an inventory for editors, with the fields of kubeadm's, the kubelet's and kube-proxy's
 * configuration that any minor has which this kbuild builds. `validate` knows which minor has which.
 */
export const editorJsonSchema = (draft: '7' | '2020-12' = '2020-12'): Record<string, unknown> => {
  const own = withTypes(inventoryJsonSchema(draft)) as Record<string, unknown>;
  const defs = definitions(['KubeletConfiguration', ...Object.values(KUBEADM)]);
  return { ...own, $defs: { ...(own['$defs'] as Schema | undefined), ...defs } };
};
