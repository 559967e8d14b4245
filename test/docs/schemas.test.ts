import { readdirSync, readFileSync } from 'node:fs';
import { Ajv as Ajv7 } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { format } from 'prettier';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runSchema } from '../../src/commands/schema.ts';
import { UsageError } from '../../src/errors.ts';
import { editorJsonSchema } from '../../src/inventory/schema/editor.ts';
import { documentJsonSchema, DOCUMENTS } from '../../src/report/documents/documents.ts';
import type { DocumentName } from '../../src/report/json.ts';
import { json as jsonOption } from '../../src/session/options.ts';
import { quietContext } from '../commands/quiet-context.ts';
import { documentOf, outputFaults } from '../tools/documents.ts';
import { all } from './commands.ts';

const names = Object.keys(DOCUMENTS) as DocumentName[];
const json = (value: object): Promise<string> => format(JSON.stringify(value), { parser: 'json', printWidth: 120 });

// `npm run docs:schemas` runs this test with -u, which writes the files.
describe('docs/schemas (else: npm run docs:schemas)', () => {
  test.each(names)('%s.json follows the document', async (name) => {
    const text = await json(documentJsonSchema(name, '2020-12'));
    await expect(text).toMatchFileSnapshot(`../../docs/schemas/${name}.json`);
  });

  test('inventory.json follows the inventory', async () => {
    await expect(await json(editorJsonSchema())).toMatchFileSnapshot('../../docs/schemas/inventory.json');
  });

  test('holds nothing else', () => {
    const files = readdirSync(new URL('../../docs/schemas', import.meta.url));
    expect(files.toSorted()).toEqual([...names, 'inventory'].map((name) => `${name}.json`).toSorted());
  });
});

/** Fields without a description, as paths. */
function bare(schema: unknown, path = ''): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, ...rest } = schema as Readonly<Record<string, unknown>> & { readonly properties?: object };
  return [
    ...Object.entries(properties).flatMap(([name, field]) => [
      ...((field as { readonly description?: string }).description?.trim() ? [] : [`${path}.${name}`]),
      ...bare(field, `${path}.${name}`),
    ]),
    ...Object.values(rest).flatMap((inner) => bare(inner, path)),
  ];
}

describe.each(['2020-12', '7'] as const)('JSON Schema %s', (draft) => {
  // What kbuild itself writes has no unknown keyword: strict.
  const ajv =
    draft === '7'
      ? new Ajv7({ strict: true, allowUnionTypes: true })
      : new Ajv2020({ strict: true, allowUnionTypes: true });

  test.each(names)('%s is a schema of this draft, and says what every field means', (name) => {
    const schema = documentJsonSchema(name, draft);
    expect(ajv.validateSchema(schema)).toBe(true);
    expect(() => ajv.compile(schema)).not.toThrow();
    expect(bare(schema)).toEqual([]);
  });

  test('the inventory accepts every example of inventories/, and refuses an unknown setting', () => {
    const validate = ajv.compile(editorJsonSchema(draft));
    const folder = new URL('../../inventories/', import.meta.url);
    for (const file of readdirSync(folder)) {
      const inventory = parse(readFileSync(new URL(file, folder), 'utf8')) as object;
      expect(validate(inventory), `${file}: ${JSON.stringify(validate.errors)}`).toBe(true);
      expect(validate({ ...inventory, nonsense: 1 }), file).toBe(false);
    }
  });
});

describe('documents', () => {
  const VALID = '{ "schemaVersion": 1, "valid": true, "problems": [], "warnings": [] }';

  test('a reader is told to allow fields that it does not know, and a test sees them', () => {
    const open = new Ajv2020().compile(documentJsonSchema('validate', '2020-12'));
    const more: unknown = { ...(JSON.parse(VALID) as object), more: 1 };
    expect(open(more)).toBe(true);
    expect(outputFaults(['validate', '--json'], JSON.stringify(more))).toEqual([
      ': must NOT have additional properties {"additionalProperty":"more"}',
    ]);
    expect(outputFaults(['validate', '--json'], VALID)).toEqual([]);
    expect(outputFaults(['validate', '--json'], VALID.replace('true', '"yes"'))).toEqual([
      '/valid: must be boolean {"type":"boolean"}',
    ]);
  });

  test.each([
    [['certs', 'renew', '--json'], 'event'],
    [['certs', 'x.yaml', '--json'], 'certs'],
    [['upgrade', '--plan', '--json'], 'upgrade-plan'],
    [['reboot', '--json'], 'event'],
    [['certs', 'rotate-ca', '--json'], 'event'],
    [['certs', 'rotate-ca', '--json', '--plan'], 'authority-plan'],
    [['facts', 'x.yaml'], 'facts'],
    [['plan', 'x.yaml'], undefined],
    [['kubeconfig', '--json'], undefined],
  ])('%j prints %s', (args, name) => expect(documentOf(args)).toBe(name));

  test.each(all.filter(({ declaration: { options } }) => options.includes(jsonOption)))(
    'it is known which document `$path` prints',
    ({ path }) => expect(() => documentOf([...path.split(' '), '--json'])).not.toThrow(),
  );

  test('every kind of event has its schema, and no other kind has one', () => {
    const source = readFileSync(new URL('../../src/engine/event.ts', import.meta.url), 'utf8');
    const kinds = new Set([...source.matchAll(/kind: '([a-z-]+)'/g)].map(([, kind]) => kind));
    const described = DOCUMENTS.event.options.map(({ shape }) => shape.kind.value);
    expect(described.toSorted()).toEqual([...kinds].toSorted());
  });

  test('a line that was cut off counts for nothing, a wrong one does', () => {
    const event = '{"schemaVersion":1,"kind":"locked","hosts":1,"time":"2026-01-01T00:00:00.000Z"}\n';
    expect(outputFaults(['up', '--json'], `${event}{"schemaVers`)).toEqual([]);
    expect(outputFaults(['up', '--json'], event.replace('1,"time', '"all","time')).join()).toContain('/hosts');
  });
});

describe('kbuild schema', () => {
  const printed = async (flags: Parameters<typeof runSchema>[1]): Promise<unknown> => {
    const { context, out } = quietContext();
    expect(await runSchema(context, flags)).toBe(0);
    return JSON.parse(out());
  };

  test('the inventory and a document, in both drafts', async () => {
    expect(await printed({})).toEqual(editorJsonSchema());
    expect(await printed({ draft: '7' })).toMatchObject({ $schema: 'http://json-schema.org/draft-07/schema#' });
    expect(await printed({ document: 'status' })).toEqual(documentJsonSchema('status', '2020-12'));
    expect(await printed({ document: 'event', draft: '7' })).toEqual(documentJsonSchema('event', '7'));
  });

  test.each([
    [{ draft: '4' }, 'JSON Schema 2020-12 or 7'],
    [{ document: 'statsu' }, 'did you mean "status"'],
    [{ document: 'toString' }, 'is no document'],
  ])('%j is refused', (flags, message) => {
    expect(() => runSchema(quietContext().context, flags)).toThrow(UsageError);
    expect(() => runSchema(quietContext().context, flags)).toThrow(message);
  });
});
