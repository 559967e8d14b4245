import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { socketFolder } from '../../src/session/user-folder.ts';
import { runtimeFolder } from '../../src/session/user-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'kbuild-leftovers-'));
afterAll(() => rmSync(folder, { recursive: true }));

const namespace = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))![0];
const gone = spawnSync('true').pid;
const made = (name: string): string => {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, 'config-1'), 'Host a');
  return join(folder, name);
};

describe('the folder of control sockets', () => {
  test('takes the place of what killed runs left, and only of that', () => {
    const left = made(`kbuild-openssh-${namespace}-${String(gone)}-aB3dEf`);
    const kept = [
      made(`kbuild-openssh-${namespace}-${String(process.ppid)}-aB3dEf`),
      // A container that shares the folder has processes of the same numbers.
      made(`kbuild-openssh-1-${String(gone)}-aB3dEf`),
      made(`kbuild-other-${namespace}-${String(gone)}-aB3dEf`),
    ];
    const own = socketFolder(folder);
    expect(statSync(own).mode & 0o777).toBe(0o700);
    expect(existsSync(left)).toBe(false);
    expect(kept.map((path) => existsSync(path))).toEqual([true, true, true]);
    expect(existsSync(socketFolder(folder))).toBe(true);
    expect(existsSync(own)).toBe(true);
  });

  test('is in the folder of the user’s session, if that belongs to the user', () => {
    expect(runtimeFolder({ XDG_RUNTIME_DIR: folder })).toBe(folder);
    const elsewhere = runtimeFolder({});
    for (const XDG_RUNTIME_DIR of ['', 'relative', join(folder, 'nothing')])
      expect(runtimeFolder({ XDG_RUNTIME_DIR })).toBe(elsewhere);
    expect(['/run', tmpdir()]).toContain(elsewhere);
  });
});
