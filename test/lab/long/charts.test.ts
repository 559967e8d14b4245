/**
 * Helm charts in the inventory: rendered by a real Helm on this machine, applied with CRDs and hooks in a namespace of their own, changed,
 * pruned with the chart's next version, and refused where two renderings differ. The tests build on each other.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { buildOnDemand } from '../build-all.ts';
import { fresh } from '../fresh.ts';
import { kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok } from '../ok.ts';
import { paths } from '../paths.ts';
import { kubectl } from '../pods.ts';
import { HELM_PATH } from '../recipes.ts';

const CP = 'htcp1';
let up: readonly string[];
let file: string;

const configMap = (name: string, data: string, annotations = ''): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-${name}\n${annotations}data:\n  value: ${data}\n`;
const CRD = stringify({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.shop.example.com' },
  spec: {
    group: 'shop.example.com',
    scope: 'Namespaced',
    names: { kind: 'Thing', plural: 'things', singular: 'thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});
const TEMPLATES = {
  'plain.yaml': configMap('plain', '{{ .Values.colour }}-{{ .Capabilities.KubeVersion.Version }}'),
  'levels.yaml': configMap('levels', '{{ printf "%v %v" .Values.size .Values.rows | quote }}'),
  'hook.yaml': configMap('hook', 'first', '  annotations: { helm.sh/hook: pre-install }\n'),
  'test.yaml': configMap('test', 'never', '  annotations: { helm.sh/hook: test }\n'),
  'secret.yaml':
    'apiVersion: v1\nkind: Secret\nmetadata: { name: login }\nstringData: { key: {{ .Values.auth.key | quote }} }\n',
  'thing.yaml': 'apiVersion: shop.example.com/v1\nkind: Thing\nmetadata: { name: one }\nspec: { size: 1 }\n',
};

/** Packages a chart beside the inventory. */
function pack(templates: Readonly<Record<string, string>>): void {
  const folder = dirname(file);
  const chart = join(folder, 'shop');
  rmSync(chart, { recursive: true, force: true });
  for (const name of ['templates', 'crds']) mkdirSync(join(chart, name), { recursive: true });
  writeFileSync(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: shop\nversion: 1.0.0\n');
  writeFileSync(join(chart, 'crds', 'things.yaml'), CRD);
  for (const [name, text] of Object.entries(templates)) writeFileSync(join(chart, 'templates', name), text);
  execFileSync('tar', ['-czf', 'shop.tgz', 'shop'], { cwd: folder });
}

function edit(colour: string): void {
  const plain = parse(readFileSync(file, 'utf8')) as object;
  const chart = { name: 'shop', namespace: 'shop', chart: 'shop.tgz' };
  const values = { valuesFiles: ['all.yaml', 'this.yaml'], values: { colour } };
  const charts = [{ ...chart, ...values, secretValues: { 'auth.key': 'file:key' } }];
  writeFileSync(file, stringify({ ...plain, charts }, { aliasDuplicateObjects: false }));
}

const value = (name: string): Promise<string> =>
  kubectl(CP, `-n shop get configmap ${name} --ignore-not-found -o jsonpath={.data.value}`);

beforeAll(async () => {
  await buildOnDemand(HELM_PATH);
  process.env['PATH'] = `${join(paths.www, HELM_PATH)}:${process.env['PATH']!}`;
  ({ up, file } = await fresh('charts', [CP]));
  writeFileSync(join(dirname(file), 'key'), 'k3y-of-the-shop\n');
  writeFileSync(join(dirname(file), 'all.yaml'), 'colour: none\nsize: { wide: 1, high: 1 }\nrows: [1, 2]\n');
  writeFileSync(join(dirname(file), 'this.yaml'), 'size: { high: 2 }\nrows: [3]\n');
  pack(TEMPLATES);
  edit('red');
});
afterAll(() => lab.down([CP]));

test('a chart is applied with its CRD, hook, namespace and secret, and a second run changes nothing', async () => {
  const { stdout, stderr } = ok(await kbuild(...up));
  expect(stdout + stderr).not.toContain('k3y-of-the-shop');
  expect(await value('shop-plain')).toMatch(/^red-v1\.\d+\.\d+$/);
  expect(await value('shop-levels')).toBe('map[high:2 wide:1] [3]');
  expect(await value('shop-hook')).toBe('first');
  expect(await value('shop-test')).toBe('');
  expect(await kubectl(CP, '-n shop get thing one -o jsonpath={.spec.size}')).toBe('1');
  const key = await kubectl(CP, '-n shop get secret login -o jsonpath={.data.key}');
  expect(Buffer.from(key, 'base64').toString()).toBe('k3y-of-the-shop');
  expect(ok(await kbuild('plan', file)).stdout).toContain('nothing to do');
});

test('a changed value is shown by plan --diff, and only that', async () => {
  edit('blue');
  const { stdout } = ok(await kbuild('plan', file, '--diff'));
  expect(stdout).toMatch(/-\s+value: red-v1[^\n]*\n\+\s+value: blue-v1/);
  expect(stdout).not.toContain('Thing one');
  ok(await kbuild(...up));
  expect(await value('shop-plain')).toMatch(/^blue-/);
});

test('an object that the next chart does not have is deleted', async () => {
  pack(Object.fromEntries(Object.entries(TEMPLATES).filter(([name]) => name !== 'hook.yaml')));
  expect(ok(await kbuild('plan', file)).stdout).toContain('delete ConfigMap shop-hook');
  ok(await kbuild(...up));
  expect(await value('shop-hook')).toBe('');
  expect(ok(await kbuild('plan', file)).stdout).toContain('nothing to do');
});

test('a chart with a random value is refused before any host is asked', async () => {
  pack({ ...TEMPLATES, 'random.yaml': configMap('random', '{{ randAlphaNum 20 }}') });
  const { code, stderr } = await kbuild('plan', file);
  expect(code).not.toBe(0);
  expect(stderr).toContain('differ in ConfigMap shop-random data.value');
});
