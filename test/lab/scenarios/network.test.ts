/** Temporary problems of a connection: the host starts and refuses logins, or loses every fifth packet. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sh } from '../../../src/shell/sh.ts';
import { inventoryFile, kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { PATIENCE_MS, waitUntil } from '../wait-until.ts';
import { kbuilds } from './kbuilds.ts';

const HOST = 'ntcp1';
const { connect, closeAll } = kbuilds();
const inside = async (command: string): Promise<string> => (await lab.inside(HOST, command)).stdout;

beforeAll(() => lab.up([HOST]));
afterAll(async () => {
  await closeAll();
  await lab.down([HOST]);
});

test('a host that refuses logins while it starts: kbuild logs in as soon as it can', async () => {
  await inside("echo 'System is booting up.' >/run/nologin");
  const remote = connect(HOST, 'ops');
  const denied = 'journalctl -u ssh --no-pager | grep -q "Access denied for user ops by PAM account" && echo denied';
  await waitUntil('sshd refuses', PATIENCE_MS, async () => (await inside(denied)) !== '');
  await inside('rm /run/nologin');
  expect(await (await remote).run(sh`id -un`)).toBe('root\n');
});

test('a host that refuses all logins fails with a remedy that names /run/nologin', async () => {
  await inside("echo 'Going down.' >/run/nologin");
  await expect(connect(HOST, 'ops')).rejects.toMatchObject({
    message: expect.stringMatching(/the connection was closed during the login/) as string,
    remedy: expect.stringContaining('/run/nologin') as string,
  });
  await inside('rm /run/nologin');
});

test('if every fifth packet is lost in both directions, a plan and a file arrive complete', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-loss-'));
  const rule = '-m statistic --mode random --probability 0.2 -j DROP';
  await inside(`iptables -w -A INPUT ${rule}; iptables -w -A OUTPUT ${rule}`);
  try {
    const { file } = inventoryFile({ ...(await lab.inventory([HOST])), name: 'loss' });
    const { code, stderr, seconds } = await kbuild('plan', file, '--log-file', join(folder, 'log'));
    console.log(`plan with 20 % loss each way: ${seconds.toFixed(1)} s`);
    expect(code, stderr).toBe(0);
    const remote = await connect(HOST);
    writeFileSync(join(folder, 'sent'), randomBytes(100_000));
    await remote.upload(join(folder, 'sent'), '/root/sent');
    await remote.download('/root/sent', join(folder, 'back'));
    expect(readFileSync(join(folder, 'back')).equals(readFileSync(join(folder, 'sent')))).toBe(true);
  } finally {
    await inside(`iptables -w -D INPUT ${rule}; iptables -w -D OUTPUT ${rule}`);
    rmSync(folder, { recursive: true });
  }
});
