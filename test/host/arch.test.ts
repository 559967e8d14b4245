// @module-tag linux
/** The architecture of a host is that of its userland, with an uname and a getconf that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { arch } from '../../src/host/machine.facts.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-arch-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test.each([
  ['x86_64', 'echo 64', 'x86_64'],
  ['aarch64', 'echo 64', 'aarch64'],
  ['aarch64', 'echo 32', 'aarch64-32bit'],
  ['x86_64', 'echo 32', 'x86_64-32bit'],
  ['armv7l', 'echo 32', 'armv7l'],
  ['aarch64', 'exit 1', 'aarch64'],
])('a kernel of %s, where getconf does `%s`, is %s', (machine, bits, expected) => {
  for (const [name, text] of [
    ['uname', `echo ${machine}`],
    ['getconf', bits],
  ] as const) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']!}` };
  const { stdout } = spawnSync('sh', ['-eu', '-c', arch.command.script], { encoding: 'utf8', env });
  expect(arch.parse(stdout, { middleMs: 0 })).toBe(expected);
});
