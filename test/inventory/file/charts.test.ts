import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Helm, helmOf } from '../../../src/inventory/file/helm.ts';
import type { HelmSite } from '../../../src/inventory/file/helm-program.ts';
import { GOOD, load, problemsOf } from '../load.ts';

const TGZ = 'a packaged chart';
const HASH = createHash('sha256').update(TGZ).digest('hex');
const entry = (more = ''): string => `${GOOD}charts:
  - name: web
    namespace: shop
    chart: web.tgz
${more}`;

interface Call {
  readonly args: readonly string[];
  readonly values: unknown;
}

/** A Helm that answers with these renderings, the last one from then on. */
function helmWith(...texts: readonly string[]): { readonly helm: Helm; readonly calls: Call[] } {
  const calls: Call[] = [];
  const helm: Helm = {
    pull: (args) => {
      calls.push({ args, values: undefined });
      return Promise.resolve(Buffer.from(TGZ));
    },
    render: (name, _chart, args, values) => {
      calls.push({ args: [name, ...args], values: JSON.parse(values) });
      return Promise.resolve(texts[Math.min(calls.length, texts.length) - 1]!);
    },
  };
  return { helm, calls };
}

const object = (kind: string, name: string, more = ''): string =>
  `---\napiVersion: v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n${more}`;
const hook = (name: string, on: string, weight: number): string =>
  object('ConfigMap', name, `  annotations: { helm.sh/hook: "${on}", helm.sh/hook-weight: "${String(weight)}" }\n`);
const files = { 'web.tgz': TGZ };
const render = async (text: string, rendered: string) => {
  const { helm, calls } = helmWith(rendered);
  const { inventory } = await load(text, files, { helm });
  return { manifest: inventory.manifests[0]!, inventory, calls };
};
const names = (objects: readonly unknown[]): readonly string[] =>
  (objects as readonly { kind: string; metadata: { name: string } }[]).map(
    ({ kind, metadata }) => `${kind} ${metadata.name}`,
  );

describe('a chart', () => {
  test('is rendered twice with its values, for the version of Kubernetes', async () => {
    const more = `    sha256: ${HASH}\n    values: { replicas: 2 }\n    apiVersions: [example.com/v1]\n`;
    const { manifest, calls } = await render(entry(more), object('Service', 'web'));
    const args = ['web', '--namespace', 'shop', '--kube-version', '1.36.3', '--include-crds', '--skip-tests'];
    const call = { args: [...args, '--api-versions', 'example.com/v1'], values: { replicas: 2 } };
    expect(calls).toEqual([call, call]);
    expect(manifest.source).toBe('chart web');
  });

  test('gets its namespace, where its objects have one and do not name it', async () => {
    const rendered = [
      object('Service', 'web'),
      object('Service', 'there', '  namespace: other\n'),
      object('ClusterRole', 'web').replace('v1', 'rbac.authorization.k8s.io/v1'),
      object('Thing', 'one').replace('v1', 'example.com/v1'),
      object('Issuer', 'all').replace('v1', 'example.com/v1'),
      object('CustomResourceDefinition', 'things.example.com').replace('v1', 'apiextensions.k8s.io/v1') +
        'spec: { group: example.com, scope: Cluster, names: { kind: Thing } }\n',
    ].join('');
    const { manifest } = await render(entry('    clusterKinds: [Issuer]\n'), rendered);
    const metadata = manifest.objects.map((one) => one['metadata']);
    expect(metadata).toEqual([
      { name: 'shop' },
      { name: 'web', namespace: 'shop' },
      { name: 'there', namespace: 'other' },
      { name: 'web' },
      { name: 'one' },
      { name: 'all' },
      { name: 'things.example.com' },
    ]);
  });

  test('brings no namespace that a manifest of the inventory has', async () => {
    const { helm } = helmWith(object('Service', 'web'));
    const more = { ...files, 'ns.yaml': object('Namespace', 'shop') };
    const { inventory } = await load(`${entry()}manifests: [ns.yaml]\n`, more, { helm });
    expect(names(inventory.manifests.flatMap(({ objects }) => objects))).toEqual(['Service web', 'Namespace shop']);
  });

  test('has its hooks before and after its objects by weight, without those of tests and of uninstalling', async () => {
    const rendered = [
      hook('last', 'post-install,post-upgrade', 0),
      object('Service', 'web'),
      hook('second', 'pre-install', 5),
      hook('first', 'pre-upgrade', -5),
      hook('gone', 'pre-delete', 0),
      hook('test', 'test', 0),
    ].join('');
    const { manifest } = await render(entry(), rendered);
    expect(names(manifest.objects)).toEqual([
      'Namespace shop',
      'ConfigMap first',
      'ConfigMap second',
      'Service web',
      'ConfigMap last',
    ]);
  });

  test('keeps the Job of a hook that would delete itself: the next run would start it again', async () => {
    const job = (name: string, annotations: string): string =>
      object('Job', name, annotations).replace('v1', 'batch/v1') +
      'spec: { ttlSecondsAfterFinished: 0, suspend: false }\n';
    const { manifest } = await render(
      entry(),
      job('hook', '  annotations: { helm.sh/hook: pre-install }\n') + job('own', ''),
    );
    expect(manifest.objects.slice(1).map(({ spec }) => spec)).toEqual([
      { suspend: false },
      { ttlSecondsAfterFinished: 0, suspend: false },
    ]);
  });

  test('is told the APIs of CRDs that the inventory’s charts and manifests bring, and renders for them', async () => {
    const crd = (kind: string): string =>
      `${object('CustomResourceDefinition', kind).replace('v1', 'apiextensions.k8s.io/v1')}spec: { group: example.com, ` +
      `names: { kind: ${kind} }, versions: [{ name: v1, served: true }, { name: v0, served: false }] }\n`;
    const { helm, calls } = helmWith(crd('Thing'));
    await load(`${entry()}manifests: [crd.yaml]\n`, { ...files, 'crd.yaml': crd('Other') }, { helm });
    const told = calls.map(({ args }) => args.filter((_, i) => args[i - 1] === '--api-versions'));
    const offered = ['example.com/v1', 'example.com/v1/Other'];
    const all = [...offered, 'example.com/v1/Thing'];
    expect(told).toEqual([offered, offered, all, all]);
  });

  test('gets secret values at their paths, and the inventory remembers them as secrets', async () => {
    const more = `    values: { auth: { user: joe } }\n    secretValues: { auth.password: "file:password" }\n`;
    const { helm, calls } = helmWith(object('Service', 'web'));
    const { inventory } = await load(entry(more), { ...files, password: 's3cret\n' }, { helm });
    expect(calls[0]!.values).toEqual({ auth: { user: 'joe', password: 's3cret' } });
    expect(JSON.stringify(inventory.manifests)).not.toContain('s3cret');
    expect(inventory.manifests[0]!.secrets).toHaveLength(1);
  });

  test('that differs between two renderings is refused with the field', async () => {
    const { helm } = helmWith(
      object('Secret', 'web', 'data: { key: YQ== }\n'),
      object('Secret', 'web', 'data: { key: Yg== }\n'),
    );
    expect(await problemsOf(entry(), files, { helm })).toEqual([
      expect.stringMatching(/^\d+:\d+ charts\[0\]: .*differ in Secret web data\.key: /),
    ]);
  });

  test.each(['', '---\n', hook('probe', 'test', 0)])(
    'that renders no object is refused: its objects in the cluster would be deleted (%j)',
    async (rendered) => {
      expect(await problemsOf(entry(), files, { helm: helmWith(rendered).helm })).toEqual([
        expect.stringContaining('Helm rendered no object'),
      ]);
    },
  );

  test('that cannot be rendered is refused without its secret values', async () => {
    const helm: Helm = { ...helmWith('').helm, render: () => Promise.reject(new Error('no template for s3cret')) };
    const more = '    secretValues: { a.b: "file:password" }\n';
    expect(await problemsOf(entry(more), { ...files, password: 's3cret' }, { helm })).toEqual([
      expect.stringContaining('charts[0]: chart web: no template for (secret)'),
    ]);
  });

  test('is not rendered where no command may run', async () => {
    const { inventory } = await load(entry(), files);
    expect(inventory.manifests).toEqual([{ source: 'chart web', objects: [] }]);
  });

  test('is pulled from a registry or a repository at its version', async () => {
    const more = `    version: 1.2.3\n    sha256: ${HASH}\n`;
    const oci = entry(more).replace('web.tgz', 'oci://registry.example.com/charts/web');
    expect((await render(oci, object('Service', 'web'))).calls[0]!.args).toEqual([
      'oci://registry.example.com/charts/web',
      ...['--version', '1.2.3'],
    ]);
    const repository = entry(`${more}    repository: https://charts.example.com\n`).replace('web.tgz', 'web');
    expect((await render(repository, object('Service', 'web'))).calls[0]!.args).toEqual([
      'web',
      ...['--repo', 'https://charts.example.com', '--version', '1.2.3'],
    ]);
  });

  test.each([
    ['web.tgz', '    version: 1.2.3\n', 'charts[0].version'],
    ['oci://registry.example.com/web', `    sha256: ${HASH}\n`, 'charts[0].version'],
    ['oci://registry.example.com/web', '    version: 1.2.3\n', 'charts[0].sha256'],
    ['oci://registry.example.com/web:1', `    version: 1.2.3\n    sha256: ${HASH}\n`, 'charts[0].chart'],
    ['https://example.com/web.tgz', '', 'charts[0].sha256'],
    ['http://example.com/web.tgz', `    sha256: ${HASH}\n`, 'charts[0].chart'],
    [
      '"--post-renderer=x"',
      `    repository: https://a.example.com\n    version: 1.2.3\n    sha256: ${HASH}\n`,
      'charts[0].chart',
    ],
    ['web.tgz', '  - { name: web, namespace: shop, chart: b.tgz }\n', 'charts[1].name'],
    ['web.tgz', `    sha256: ${HASH.replace(/^./, 'g')}\n`, 'charts[0].sha256'],
  ])('%s with %j is refused at %s', async (chart, more, path) => {
    const problems = await problemsOf(entry(more).replace('web.tgz', chart), files, helmWith(''));
    expect(problems.join('\n')).toContain(` ${path}: `);
  });

  test('with other bytes than its hash says is refused', async () => {
    const more = `    sha256: ${HASH.split('').toReversed().join('')}\n`;
    expect(await problemsOf(entry(more), files, helmWith(''))).toEqual([
      expect.stringContaining(`charts[0]: chart web: has SHA-256 ${HASH}`),
    ]);
  });
});

/** A machine without network. */
const NO_SITE: HelmSite = {
  fetch: () => Promise.reject(new Error('no network')),
  platform: 'linux-amd64',
  archives: { 'linux-amd64': HASH },
};

describe('Helm on this machine', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kbuild-helm-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const helmThat = (script: string): Helm => {
    const file = join(folder, 'helm');
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
    return helmOf({ PATH: `${folder}:${process.env['PATH']!}`, HOME: folder }, NO_SITE);
  };
  const VERSION = '[ "$1" = version ] && echo v3.19.0 && exit';

  test('renders with the values on standard input', async () => {
    const helm = helmThat(`${VERSION}; echo "$1 $2 $4 $5"; cat "$3"; cat`);
    expect(await helm.render('web', Buffer.from(TGZ), ['--x'], '{"a":1}')).toBe(
      `template web --x --values\n${TGZ}{"a":1}`,
    );
  });

  test('that is missing or too old, and cannot be downloaded, is named with the remedy', async () => {
    const none = helmOf({ PATH: folder, HOME: folder }, NO_SITE);
    await expect(none.render('web', Buffer.from(TGZ), [], '')).rejects.toThrow(
      /^Helm is not in PATH, and https:\/\/get\.helm\.sh\/\S+ cannot be fetched \(no network\)\. Install Helm 3\.8 /,
    );
    const old = helmThat('echo v2.17.0');
    await expect(old.render('web', Buffer.from(TGZ), [], '')).rejects.toThrow('Helm v2.17.0 in PATH is not supported');
  });

  test('that fails is answered with its last lines', async () => {
    const helm = helmThat(`${VERSION}; echo "Error: bad values" >&2; exit 1`);
    await expect(helm.render('web', Buffer.from(TGZ), [], '')).rejects.toThrow('exit status 1\nError: bad values');
  });

  test('pulls a chart once, and refuses other bytes', async () => {
    const log = join(folder, 'log');
    const helm = helmThat(`${VERSION}; echo "$*" >>${log}; printf '%s' '${TGZ}' >"$5/web-1.tgz"`);
    const args = ['web', '--devel'];
    await expect(helm.pull(args, 'a'.repeat(64))).rejects.toThrow(`has SHA-256 ${HASH}`);
    expect(Buffer.from(await helm.pull(args, HASH)).toString()).toBe(TGZ);
    writeFileSync(join(folder, 'helm'), '#!/bin/sh\nexit 1\n');
    expect(Buffer.from(await helm.pull(args, HASH)).toString()).toBe(TGZ);
  });
});
