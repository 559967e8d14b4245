/** What a release runs: the bundle and the script of the executables, made and tried. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { oneFile } from '../../.ci/release/executables.ts';
import { buildProgram } from '../../bundle.config.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'kbuild-release-test-'));
// As for unit tests: it ends only a test that hangs.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
afterAll(() => rmSync(folder, { recursive: true }));

test('the bundle imports nothing but Node, and native parts of ssh2 where there are any', async () => {
  const made = await buildProgram(join(folder, 'program'));
  const outside = made
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap(({ imports }) => imports.filter(({ external }) => external === true).map(({ path }) => path))
    .filter((path) => !builtinModules.includes(path.replace(/^node:/, '')))
    .filter((path) => !path.startsWith('../program-') && path !== '../run-complete.js');
  expect([...new Set(outside)].toSorted()).toEqual([
    'cpu-features',
    'ssh2/lib/protocol/crypto/build/Release/sshcrypto.node',
  ]);
  const [program = ''] = readdirSync(join(folder, 'program')).filter((name) => name.endsWith('.cjs'));
  const bundled = readFileSync(join(folder, 'program', program), 'utf8');
  expect(bundled).toContain('HandlebarsEnvironment');
  expect(bundled).not.toContain('requireFrom(importMetaUrl)("handlebars")');
  // `compiled.ts` runs it as a script, in which `import()` fails; a text beyond ASCII takes twice the memory.
  expect(bundled).not.toMatch(/\bimport\(["'`]node:/);
  expect(bundled).toMatch(/^[\0-\x7f]*$/);
});

describe('the script of the executables', () => {
  const script = join(folder, 'kbuild.cjs');
  const elsewhere = join(folder, 'elsewhere');
  beforeAll(async () => {
    await oneFile(root, '9.8.7', script);
    mkdirSync(elsewhere);
  });
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [script, ...args], { cwd: elsewhere, env: { HOME: elsewhere }, encoding: 'utf8' });

  test('is one file that knows its version and its templates, in a folder without any other', () => {
    expect(run('--version')).toMatchObject({ status: 0, stdout: '9.8.7\n', stderr: '' });
    writeFileSync(
      join(elsewhere, 'inventory.yaml'),
      'name: c\nkubernetes: { version: "1.36.3" }\nhosts: [{ name: cp1, address: 127.0.0.1, internalAddress: 10.9.0.1, role: control-plane, ssh: { port: 1 } }]\n',
    );
    expect(run('validate').status).toBe(0);
    expect(run('facts').stderr).toContain('no SSH key to log in with');
    expect(run('facts').status).toBe(3);
    expect(run('__complete', '1', 'kbuild', 'val').status).toBe(0);
  });

  test('the same tree makes the same bytes', async () => {
    await oneFile(root, '9.8.7', join(folder, 'again.cjs'));
    expect(readFileSync(join(folder, 'again.cjs')).equals(readFileSync(script))).toBe(true);
  });
});

test('release without --dry-run publishes nothing', () => {
  const ran = spawnSync('npx', ['--no-install', 'tsx', '.ci/release/release.ts'], { cwd: root, encoding: 'utf8' });
  expect(ran.status).toBe(2);
  expect(ran.stderr).toContain('nothing is published from here');
  expect(execFileSync('git', ['check-ignore', 'dist/release'], { cwd: root, encoding: 'utf8' })).toContain('dist');
});
