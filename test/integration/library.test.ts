// @module-tag ssh
/** The package as a program uses it that installed it: packed, type-checked against, imported. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'kbuild-library-'));
const at = (...path: readonly string[]): string => join(folder, ...path);
/** The example project of the page about the library. */
const project = join(root, 'docs/examples/drift');
const example = readFileSync(join(project, 'drift.ts'), 'utf8');

beforeAll(() => {
  const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  mkdirSync(at('node_modules/kbuild'), { recursive: true });
  mkdirSync(at('node_modules/@types'));
  symlinkSync(join(root, 'node_modules/@types/node'), at('node_modules/@types/node'));
  execFileSync('tar', ['-xzf', at(packed.trim()), '--strip-components=1', '-C', at('node_modules/kbuild')]);
  for (const name of ['package.json', 'tsconfig.json', 'drift.ts']) copyFileSync(join(project, name), at(name));
  writeFileSync(
    at('drift.js'),
    ts.transpileModule(example, { compilerOptions: { module: ts.ModuleKind.ESNext } }).outputText,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = () => spawnSync(process.execPath, ['drift.js'], { cwd: folder, encoding: 'utf8', env: { HOME: folder } });

test('the example project has no type error in a folder that installed the package', () => {
  const { config } = ts.readConfigFile(at('tsconfig.json'), (path) => readFileSync(path, 'utf8')) as {
    readonly config: unknown;
  };
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
  expect(fileNames).toEqual([at('drift.ts')]);
  const errors = ts
    .getPreEmitDiagnostics(ts.createProgram(fileNames, { ...options, noEmit: true }))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  expect(errors).toEqual([]);
});

test('the page about the library shows it as it is', () => {
  expect(readFileSync(join(root, 'docs/library.md'), 'utf8')).toContain(`\`\`\`ts\n${example}\`\`\`\n`);
});

test('a wrong inventory ends with its places and the exit code of the command line', () => {
  writeFileSync(at('inventory.yaml'), 'name: prod\n');
  const { stderr, status } = run();
  expect(stderr).toMatch(/^inventory\.yaml:1:1: hosts: is required/m);
  expect(status).toBe(2);
});

test('a host that does not answer is told once, with what to do, and the process ends after close', () => {
  writeFileSync(
    at('inventory.yaml'),
    [
      'name: prod',
      'kubernetes: { version: "1.36.3" }',
      'ssh: { port: 1, identityFile: id, knownHostsFile: known }',
      'hosts: [{ name: cp1, address: 127.1.0.1, internalAddress: 10.9.0.1, role: control-plane }]',
      '',
    ].join('\n'),
  );
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at('id')]);
  const { stderr, status } = run();
  expect(stderr.match(/^cp1: 127\.1\.0\.1:1: connection refused/gm)).toHaveLength(1);
  expect(stderr).toContain('\n  → ');
  expect(status).toBe(3);
});
