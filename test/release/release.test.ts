/** What a release is made of: recipes that only its workflow carries out are parsed, the others are tried. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { formula } from '../../.ci/release/formula.ts';
import { publishedPackage } from '../../.ci/release/npm-package.ts';
import { debControl, type Described, rpmSpec } from '../../.ci/release/packages.ts';
import { executableName, PLATFORMS } from '../../.ci/release/platforms.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const at = (path: string): string => join(root, path);
const text = (path: string): string => readFileSync(at(path), 'utf8');
const own = JSON.parse(text('package.json')) as Described & Readonly<Record<string, unknown>>;
const folder = mkdtempSync(join(tmpdir(), 'kbuild-release-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the npm package', () => {
  test('installs nothing else and runs no script; the rest is as in the repository', () => {
    const published = publishedPackage(own);
    for (const field of ['dependencies', 'devDependencies', 'scripts', 'allowScripts'])
      expect(Object.keys(published), field).not.toContain(field);
    for (const field of ['name', 'version', 'bin', 'man', 'exports', 'engines', 'license', 'repository'])
      expect(published[field], field).toEqual(own[field]);
  });
});

describe('packages of systems', () => {
  test('each platform has a name and a pinned Node of its own', () => {
    expect(new Set(PLATFORMS.map(executableName)).size).toBe(PLATFORMS.length);
    for (const { integrity } of PLATFORMS) expect(integrity).toMatch(/^sha512-[\w+/]{86}==$/);
    expect(PLATFORMS.filter(({ linux }) => linux !== undefined).map(({ name }) => name)).toEqual([
      'linux-x64',
      'linux-arm64',
    ]);
  });

  test('Debian: one field a line; it may stand beside the package kbuild of Debian', () => {
    const fields = new Map(
      debControl(own, 'amd64', 148_000)
        .trimEnd()
        .split('\n')
        .map((line) => /^([A-Z][A-Za-z-]*): (.+)$/.exec(line)!)
        .map(([, key = '', value = '']) => [key, value]),
    );
    expect(fields.get('Package')).toBe('kbuild-cluster');
    expect([...fields.keys()]).not.toContain('Conflicts');
    expect(fields.get('Depends')).toContain('libatomic1');
    expect(fields.get('Architecture')).toBe('amd64');
    expect(fields.get('Installed-Size')).toBe('148000');
  });

  test('rpm: nothing strips the program out of the executable, no time of the machine is in it, and libraries go by their own names', () => {
    const spec = rpmSpec(own, '/stage');
    expect(spec).toContain('%global __os_install_post %{nil}');
    expect(spec).not.toMatch(/^Requires:/m);
    expect(spec).toMatch(/^AutoReq: yes$/m);
    expect(spec).toMatch(/^\/usr\/share\/doc\/kbuild-cluster$/m);
    expect(spec).toContain('%global use_source_date_epoch_as_buildtime 1');
    expect(spec).toMatch(/^Version: \d+\.\d+\.\d+$/m);
  });

  test('Homebrew: each platform of macOS and Linux has its own URL and checksum', () => {
    const sums = new Map(PLATFORMS.map((platform, i) => [executableName(platform), String(i).repeat(64)]));
    const ruby = formula(own, sums);
    for (const [name, sum] of sums) {
      if (name.endsWith('.exe')) continue;
      expect(ruby).toContain(`/v${own.version}/${name}"\n      sha256 "${sum}"`);
    }
    const opened = ruby.match(/^\s*(?:class|def|test do|on_\w+ do)\b/gm)!.length;
    expect(ruby.match(/^\s*end$/gm)).toHaveLength(opened);
  });
});

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
}
interface Job {
  readonly permissions?: object;
  readonly 'runs-on'?: unknown;
  readonly if?: string;
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const stepsOf = (workflow: Workflow): readonly Step[] => Object.values(workflow.jobs).flatMap(({ steps }) => steps);
const workflows = readdirSync(at('.github/workflows')).map(
  (name) => [name, parse(text(`.github/workflows/${name}`)) as Workflow] as const,
);
const action = parse(text('.github/actions/kbuild/action.yml')) as {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
};

describe('GitHub', () => {
  test.each(workflows)('%s: may only read by default, and no expression is read as code', (_, workflow) => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    for (const { run = '' } of stepsOf(workflow)) expect(run).not.toContain('${{');
  });

  test.each(workflows)('%s: npm scripts and files that it names are there', (_, workflow) => {
    const scripts = own['scripts'] as Readonly<Record<string, string>>;
    for (const { run = '' } of stepsOf(workflow)) {
      for (const [, name = ''] of run.matchAll(/npm run ([\w:]+)/g)) expect(Object.keys(scripts)).toContain(name);
      for (const [path] of run.matchAll(/\.ci\/[\w./-]+/g)) expect(existsSync(at(path)), path).toBe(true);
    }
  });

  test('a fork never reaches a machine of our own', () => {
    for (const [, { jobs }] of workflows)
      for (const job of Object.values(jobs))
        if (JSON.stringify(job['runs-on']).includes('self-hosted'))
          expect(job.if).toContain('head.repo.full_name == github.repository');
  });

  test('the action reads its inputs from the environment, and each is used', () => {
    expect(action.runs.using).toBe('composite');
    const [script = ''] = action.runs.steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
    expect(script).not.toContain('${{');
    const source = text('.github/actions/kbuild/action.yml');
    for (const name of Object.keys(action.inputs)) expect(source).toContain(`\${{ inputs.${name} }}`);
  });

  test('the script of the action runs validate, check and plan, and nothing else', { tags: ['bash'] }, () => {
    const [script = ''] = action.runs.steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
    const bin = join(folder, 'bin');
    mkdirSync(bin, { recursive: true });
    for (const name of ['npm', 'kbuild'])
      writeFileSync(join(bin, name), '#!/bin/sh\necho "${0##*/} $*"\n', { mode: 0o755 });
    const ran = (env: Readonly<Record<string, string>>) =>
      spawnSync('bash', ['-eo', 'pipefail', '-c', script], {
        cwd: folder,
        encoding: 'utf8',
        env: {
          PATH: `${bin}:${process.env['PATH'] ?? ''}`,
          KBUILD_INVENTORY: 'a b.yaml',
          KBUILD_VERSION: '1.2.3',
          KBUILD_MARKDOWN: '',
          ...env,
        },
      });
    expect(ran({ KBUILD_COMMAND: 'check' }).stdout).toBe(
      'npm install --global --ignore-scripts kbuild@1.2.3\nkbuild check -i a b.yaml\n',
    );
    expect(ran({ KBUILD_COMMAND: 'up' })).toMatchObject({ status: 2 });
    ran({ KBUILD_COMMAND: 'plan', KBUILD_MARKDOWN: 'plan.md' });
    expect(readFileSync(join(folder, 'plan.md'), 'utf8')).toBe('kbuild plan -i a b.yaml --markdown\n');
  });

  test('forms of issues parse, and links of the community files lead somewhere', () => {
    for (const name of ['bug.yml', 'wish.yml']) {
      const form = parse(text(`.github/ISSUE_TEMPLATE/${name}`)) as {
        readonly body: readonly { readonly type: string }[];
      };
      expect(form.body.map(({ type }) => type)).toEqual(expect.arrayContaining(['textarea']));
    }
    for (const name of ['SECURITY.md', 'CONTRIBUTING.md', 'CODE_OF_CONDUCT.md'])
      for (const [, link = ''] of text(`.github/${name}`).matchAll(/\]\(([^)#:]+)\)/g))
        expect(existsSync(at(join('.github', link))), link).toBe(true);
  });
});

test('the container recipe installs the Debian package, and ends in the program', () => {
  const lines = text('.ci/release/Containerfile').split('\n');
  expect(lines.filter((line) => line.startsWith('FROM '))).toEqual(['FROM docker.io/library/debian:12-slim']);
  expect(lines).toContain('COPY kbuild-cluster_*_${TARGETARCH}.deb /tmp/');
  expect(lines).toContain('ENTRYPOINT ["/usr/bin/kbuild"]');
});
