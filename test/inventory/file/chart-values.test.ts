/** Values of a chart: files in their order, the inventory's own over them, secrets over all. */
import { describe, expect, test } from 'vitest';
import { GOOD, load, problemsOf } from '../load.ts';

const inventory = (more: string): string =>
  `${GOOD}charts:\n  - name: web\n    namespace: shop\n    chart: web.tgz\n${more}`;
const CHART = { 'web.tgz': 'a packaged chart' };

/** The values that Helm gets. */
async function valuesOf(more: string, files: Readonly<Record<string, string>>): Promise<unknown> {
  let given: unknown;
  const helm = {
    pull: () => Promise.reject(new Error('not pulled')),
    render: (...[, , , values]: readonly [string, Uint8Array, readonly string[], string]) => {
      given = JSON.parse(values);
      return Promise.resolve('apiVersion: v1\nkind: Service\nmetadata: { name: web }\n');
    },
  };
  await load(inventory(more), { ...CHART, ...files }, { helm });
  return given;
}

describe('values of a chart', () => {
  test('are merged as Helm merges -f: later files over earlier ones, lists whole, the inventory and secrets last', async () => {
    const given = await valuesOf(
      `    valuesFiles: [all.yaml, production.yaml]
    values: { image: { tag: "3" } }
    secretValues: { auth.password: "file:password" }
`,
      {
        'all.yaml': 'image: { name: web, tag: "1" }\nreplicas: 1\nhosts: [a, b]\nauth: { user: joe, password: none }\n',
        'production.yaml': 'image: { tag: "2" }\nreplicas: 3\nhosts: [c]\n',
        password: 's3cret\n',
      },
    );
    expect(given).toEqual({
      image: { name: 'web', tag: '3' },
      replicas: 3,
      hosts: ['c'],
      auth: { user: 'joe', password: 's3cret' },
    });
  });

  test('keep a null, which has Helm drop the default of the chart', async () => {
    const files = { 'a.yaml': 'probe: { path: /a }\n', 'b.yaml': 'probe: null\n' };
    expect(await valuesOf('    valuesFiles: [a.yaml, b.yaml]\n', files)).toEqual({ probe: null });
  });

  test('are read from files as Helm reads them: yes is a boolean, 0644 octal, anchors and merge keys count', async () => {
    const text = 'x: &x { mode: 0644 }\ny: { <<: *x, on: yes }\n';
    expect(await valuesOf('    valuesFiles: [a.yaml]\n', { 'a.yaml': text })).toEqual({
      x: { mode: 420 },
      y: { mode: 420, true: true },
    });
  });

  test('may be a file of comments alone', async () => {
    expect(await valuesOf('    valuesFiles: [a.yaml]\n', { 'a.yaml': '# none yet\n' })).toEqual({});
  });
});

describe('a values file', () => {
  test.each([
    ['no mapping', '- a\n', 'values: a.yaml:1:1: must be a mapping of values'],
    ['two documents', 'a: 1\n---\nb: 2\n', 'values: a.yaml:3:1: a values file is one document: name each file alone'],
    ['a setting twice', 'a: 1\na: 2\n', 'values: a.yaml:2:1: is not valid YAML: Map keys must be unique'],
  ])('with %s is refused by validate, where no Helm runs', async (_, text, message) => {
    expect(await problemsOf(inventory('    valuesFiles: [a.yaml]\n'), { ...CHART, 'a.yaml': text })).toEqual([
      expect.stringMatching(/^\d+:\d+ charts\[0\]\.valuesFiles\[0\]: /),
    ]);
    expect((await problemsOf(inventory('    valuesFiles: [a.yaml]\n'), { ...CHART, 'a.yaml': text }))[0]).toContain(
      message,
    );
  });

  test('that is not there is refused, and a URL is none', async () => {
    expect(await problemsOf(inventory('    valuesFiles: [a.yaml]\n'), CHART)).toEqual([
      expect.stringContaining('charts[0].valuesFiles[0]: a.yaml: there is no such file'),
    ]);
    expect(await problemsOf(inventory('    valuesFiles: ["https://example.com/a.yaml"]\n'), CHART)).toEqual([
      expect.stringContaining('must be a file of this machine, not a URL'),
    ]);
  });
});

test.each(['roles:\n  worker: { charts: [] }\n', 'groups:\n  gpu: { charts: [] }\n'])(
  'a chart of some nodes is refused with the place of charts (%j)',
  async (text) => {
    expect(await problemsOf(`${GOOD}${text}`)).toContainEqual(
      expect.stringContaining("a chart is the whole cluster's: write it in `charts` at the top"),
    );
  },
);
