/** What a machine lacks is told before anything is made: all of it, each with the command that installs it. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findGo } from './go.ts';
import { attempt, run } from './run.ts';

const ROOT = join(import.meta.dirname, '../..');
/** A user that is not root, though he may read what root may: the checkout can be in root's home. */
const AS_NOBODY = ['--user', 'env', '-i'];

let dir = '';

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kbuild-lab-'));
  await chmod(dir, 0o755);
  await run('cp', ['-rs', '/usr/bin', join(dir, 'bin')]);
  await rm(join(dir, 'bin/go'), { force: true });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(dir, { recursive: true });
});

test.for(['lab/main.ts check', 'demo/main.ts --with lab', 'bench/bench.ts'])(
  '%s of a user who may do nothing lists root, packages and Go at once, and makes nothing',
  { timeout: 60_000 },
  async (command) => {
    const [file, ...words] = command.split(' ');
    const tsx = join(ROOT, 'node_modules/tsx/dist/cli.mjs');
    const env = [
      `KBUILD_LAB_DIR=${dir}/lab`,
      `TMPDIR=${dir}`,
      'KBUILD_LAB_DOWNLOAD_BASE=',
      'KBUILD_LAB_RELEASES_BASE=',
    ];
    const sites = ['KBUILD_LAB_IMAGES_BASE=', 'KBUILD_LAB_PACKAGES_BASE='];
    const program = [process.execPath, tsx, join(ROOT, 'test', file!), ...words];
    const args = [...AS_NOBODY, ...env, ...sites, ...program];
    const { code, stderr } = await attempt('unshare', args, { cwd: ROOT });
    expect(stderr).toContain('this machine lacks what the lab needs:\n');
    expect(stderr).toContain('\n  - root, for namespaces and mounts: run the same command with sudo\n');
    expect(stderr).toContain('\n  - Go 1.21.0 or newer (found none): curl -fsSL https://go.dev/dl/go');
    expect(stderr).not.toContain('    at ');
    expect(code).toBe(2);
    expect((await attempt('ls', [dir])).stdout).not.toContain('lab\n');
  },
);

test('lab up on a disk without room for the host says how much it needs, and makes nothing', async () => {
  const folder = join(dir, 'small-disk');
  const tsx = join(ROOT, 'node_modules/tsx/dist/cli.mjs');
  const command = `mkdir ${folder} && mount -t tmpfs -o size=8m none ${folder} && ${process.execPath} ${tsx} ${join(ROOT, 'test/lab/main.ts')} up nodisk1; code=$?; ls ${folder}; exit $code`;
  const { code, stdout, stderr } = await attempt('unshare', ['--mount', 'sh', '-c', command], {
    cwd: ROOT,
    env: { KBUILD_LAB_DIR: folder },
  });
  expect(code, stderr).toBe(2);
  expect(stderr).toMatch(/- [\d.]+ GiB of disk in all \(\S+ has 0\.0\): free some, end hosts/);
  expect(stdout.trim()).toBe('');
});

describe('Go', () => {
  /** A Go of that version that fetches toolchains, or says why it cannot. */
  const withGo = async (version: string, fetching: string): Promise<Awaited<ReturnType<typeof findGo>>> => {
    const go = join(dir, 'go');
    await writeFile(go, `#!/bin/sh\n[ "$1" = env ] && { echo go${version}; exit; }\n${fetching}\n`);
    await chmod(go, 0o755);
    vi.stubEnv('PATH', `${dir}:${process.env['PATH']!}`);
    return findGo().finally(() => vi.unstubAllEnvs());
  };

  test('that is new enough is used as it is', async () => {
    expect(await withGo('1.26.0', 'exit 1')).toEqual({ env: {} });
    expect(await withGo('1.30', 'exit 1')).toEqual({ env: {} });
    expect(await withGo('2.0.1', 'exit 1')).toEqual({ env: {} });
  });

  test('of 1.21 or newer fetches its toolchain, also with GOTOOLCHAIN=local', async () => {
    const fetches = '[ "$GOTOOLCHAIN" = go1.26.0 ]';
    expect(await withGo('1.22.5', fetches)).toEqual({ env: { GOTOOLCHAIN: 'go1.26.0+auto' } });
    vi.stubEnv('GOTOOLCHAIN', 'local');
    expect(await withGo('1.21', fetches)).toEqual({ env: { GOTOOLCHAIN: 'go1.26.0+auto' } });
  });

  test('of 1.21 or newer that cannot fetch it says why', async () => {
    const { lack } = await withGo('1.22.5', 'echo "dial tcp: no route to host" >&2; exit 1');
    expect(lack).toContain('Go 1.26.0 (found Go 1.22.5, which could not fetch it: dial tcp: no route to host)');
  });

  test('that is older, or is not there, is to be installed', async () => {
    expect((await withGo('1.19.8', 'exit 0')).lack).toMatch(/^Go 1.21.0 or newer \(found Go 1.19.8, .*\): curl /);
  });
});
