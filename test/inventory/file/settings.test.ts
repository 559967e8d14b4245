import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { inventorySettings, type Setting, settingAt, withInner } from '../../../src/inventory/file/settings.ts';
import { inventorySchema } from '../../../src/inventory/schema/schema.ts';

const root = inventorySettings();
const all = withInner(root).slice(1);

/** The schema without what only says when a value may be missing. */
function bare(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodExactOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return bare(schema.unwrap() as z.ZodType);
  return schema;
}

/** Schemas of a field, in every member of a union that has it, in items of a list and below names. */
function inside(given: z.ZodType, name: string): readonly z.ZodType[] {
  const schema = bare(given);
  if (schema instanceof z.ZodObject) {
    const field = (schema.shape as Record<string, z.ZodType>)[name];
    return field === undefined ? [] : [field];
  }
  if (schema instanceof z.ZodArray) return inside(schema.element as z.ZodType, name);
  if (schema instanceof z.ZodRecord) return inside(schema.valueType as z.ZodType, name);
  if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).flatMap((one) => inside(one, name));
  return [];
}

/** The schema of a setting: what `validate` holds its values to. */
const schemaOf = ({ path }: Setting): z.ZodType =>
  path
    .replaceAll('[]', '')
    .split('.')
    .filter((name) => name !== 'NAME')
    .reduce<z.ZodType>((schema, name) => inside(schema, name)[0]!, inventorySchema);

describe('settings of the inventory', () => {
  test('each says what it is for, and what it takes', () => {
    expect(all.length).toBeGreaterThan(250);
    expect(all.filter(({ meaning, type }) => meaning.trim() === '' || type === '').map(({ path }) => path)).toEqual([]);
  });

  test('each that has no settings in it has an example', () => {
    const without = all.filter(({ inside: fields, examples }) => fields.size === 0 && examples.length === 0);
    expect(without.map(({ path }) => path)).toEqual([]);
  });

  test('each example is accepted where it stands', () => {
    const wrong = all.flatMap((setting) =>
      setting.examples
        .filter((example) => !schemaOf(setting).safeParse(example).success)
        .map((example) => `${setting.path}: ${JSON.stringify(example)}`),
    );
    expect(wrong).toEqual([]);
  });

  test('a wrong example would be seen', () => {
    const [setting] = all.filter(({ path }) => path === 'hosts[].address');
    expect(schemaOf(setting!).safeParse('not an address').success).toBe(false);
  });
});

test.each([
  ['network.podSubnet', 'network.podSubnet'],
  ['hosts[].labels', 'hosts[].labels'],
  ['hosts[3].labels', 'hosts[].labels'],
  ['hosts.labels', 'hosts[].labels'],
  ['groups.gpu.taints.key', 'groups.NAME.taints[].key'],
  ['groups.taints', 'groups.NAME.taints'],
  ['kubelet.config.maxPods', 'kubelet.config'],
  ['sysctls.vm.max_map_count', 'sysctls'],
  ['certificates.ca.cert', 'certificates.ca.cert'],
  ['manifests[].sha256', 'manifests[].sha256'],
  ['ssh.bastion.user', 'ssh.bastion.user'],
  ['network.podsubnet', undefined],
  ['constructor', undefined],
  ['name.x', undefined],
])('%s is the setting %s', (path, found) => {
  expect(settingAt(root, path)?.path).toBe(found);
});
