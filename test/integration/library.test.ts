// @module-tag ssh
/** The package as a program uses it that installed it: packed, type-checked against, imported. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'kbuild-library-'));
const at = (...path: readonly string[]): string => join(folder, ...path);
/** The example of the page about the library. */
const example = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'docs/library.md'), 'utf8'))![1]!;

beforeAll(() => {
  const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  mkdirSync(at('node_modules/kbuild'), { recursive: true });
  mkdirSync(at('node_modules/@types'));
  symlinkSync(join(root, 'node_modules/@types/node'), at('node_modules/@types/node'));
  execFileSync('tar', ['-xzf', at(packed.trim()), '--strip-components=1', '-C', at('node_modules/kbuild')]);
  writeFileSync(at('package.json'), '{ "type": "module" }');
  writeFileSync(at('main.ts'), example);
  writeFileSync(
    at('main.js'),
    ts.transpileModule(example, { compilerOptions: { module: ts.ModuleKind.ESNext } }).outputText,
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = () => spawnSync(process.execPath, ['main.js'], { cwd: folder, encoding: 'utf8', env: { HOME: folder } });

test('the example of docs/library.md has no type error in a program that installed the package', () => {
  const program = ts.createProgram([at('main.ts')], {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    typeRoots: [at('node_modules/@types')],
  });
  const errors = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  expect(errors).toEqual([]);
});

test('a wrong inventory is an InventoryError with its places', () => {
  writeFileSync(at('inventory.yaml'), 'name: prod\n');
  const { stderr, status } = run();
  expect(stderr).toMatch(/^inventory\.yaml:1:1: hosts: is required/m);
  expect(status).toBe(0);
});

test('hosts that do not answer are listed, and the process ends after close', () => {
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
  expect(stderr).toContain('cp1: cp1: 127.1.0.1:1: connection refused');
  expect(status).toBe(0);
});
