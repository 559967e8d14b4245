// @module-tag linux
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { files } from '../../src/host/files.facts.ts';

const folder = mkdtempSync(join(tmpdir(), 'kbuild-files-'));
const at = (...path: readonly string[]): string => join(folder, ...path);
afterAll(() => rmSync(folder, { recursive: true }));

const observe = (paths: readonly string[], trees: readonly string[] = []) => {
  const { command, parse } = files(paths, trees);
  return parse(execFileSync('sh', ['-euc', command.script], { encoding: 'utf8' }), { middleMs: 0 });
};

test('a file is observed whose name sha256sum escapes', () => {
  mkdirSync(at('tree'));
  const path = at('tree', String.raw`dev-disk-by\x2dlabel-swap.swap`);
  writeFileSync(path, 'content');
  const sha256 = createHash('sha256').update('content').digest('hex');
  expect(observe([], [at('tree')]).get(path)).toMatchObject({ kind: 'file', sha256 });
});

test('a path is a file, a folder, something else or absent', () => {
  writeFileSync(at('file'), '');
  const paths = [at('file'), at('tree'), '/dev/null', at('none')];
  const found = observe(paths);
  expect(paths.map((path) => found.get(path)?.kind)).toEqual(['file', 'folder', 'other', 'absent']);
});

test('a named path without an answer fails the probe: absent would be a guess', () => {
  const { parse } = files([at('file'), at('none')], []);
  expect(() => parse(`absent ${at('file')}\n`, { middleMs: 0 })).toThrow(`no answer about ${at('none')}`);
  expect(() => parse(`absent ${at('none')}\nstat 644 root:root 1.5 ${at('file')}\n`, { middleMs: 0 })).toThrow(
    `no answer about ${at('file')}`,
  );
});
