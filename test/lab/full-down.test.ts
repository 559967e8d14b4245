/** `lab down` without names leaves a machine as it was. It runs alone. */
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildAll } from './build-all.ts';
import { paths } from './paths.ts';
import { attempt, type Result } from './run.ts';

let dir = '';

/** Runs a script away from other labs: with its own network and mounts. Keys and artifacts are those of the real lab. */
const alone = (script: string): Promise<Result> =>
  attempt(
    'unshare',
    [
      '--net',
      '--mount',
      '--propagation',
      'private',
      'sh',
      '-euc',
      `mount -t tmpfs none /run/netns 2>/dev/null || mkdir -p /run/netns; ip link set lo up; ${script}`,
    ],
    {
      // Its hosts are ended by hand.
      env: { KBUILD_LAB_DIR: dir, KBUILD_LAB_RUN: '' },
      cwd: join(import.meta.dirname, '../..'),
    },
  );

beforeAll(async () => {
  await buildAll();
  dir = await mkdtemp(join(tmpdir(), 'kbuild-lab-'));
  for (const shared of ['build', 'gnupg'] as const) await symlink(paths[shared], join(dir, shared));
  await mkdir(join(dir, 'ssh'));
  for (const file of ['id_ed25519', 'id_ed25519.pub']) await copyFile(join(paths.ssh, file), join(dir, 'ssh', file));
});

afterAll(async () => {
  for (const pid of await left()) process.kill(pid, 'SIGKILL');
  await rm(dir, { recursive: true, force: true });
});

/** Processes with the folder of this run in their command line. */
const left = async (): Promise<readonly number[]> =>
  (await attempt('pgrep', ['-f', dir])).stdout.split('\n').filter(Boolean).map(Number);

test('`down` without names leaves a machine as it was, also after a crash in the middle of `up`', async () => {
  const lab = 'node_modules/.bin/tsx test/lab/main.ts';
  const state =
    'ip -o link | cut -d: -f2; ip netns list; iptables -S; nft list tables bridge; cut -d" " -f2 /proc/self/mounts; cat /proc/sys/vm/overcommit_memory /proc/sys/kernel/panic';
  const { stdout, stderr, code } = await alone(`
    iptables -S >/dev/null
    { ${state}; } > $KBUILD_LAB_DIR/before
    timeout -s KILL 1.4 ${lab} up yw1 yw2+2 || true
    ${lab} up yw1 yw2+2
    ${lab} ssh yw2 hostname
    sysctl -qw vm.overcommit_memory=1
    ${lab} partition --keep-ssh yw1
    ${lab} down
    ${lab} down
    { ${state}; } > $KBUILD_LAB_DIR/after`);
  expect({ stdout, code }, stderr).toEqual({ stdout: 'yw2\n', code: 0 });
  expect(await readFile(join(dir, 'after'), 'utf8')).toBe(await readFile(join(dir, 'before'), 'utf8'));
  expect((await readdir(dir)).sort()).toEqual([
    'after',
    'before',
    'build',
    'gnupg',
    'locks',
    'registry',
    'services',
    'ssh',
    'tls',
    'www',
  ]);
  expect(await left()).toEqual([]);
});
