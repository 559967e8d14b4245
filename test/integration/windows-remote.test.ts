import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { LockHolder } from '../../src/engine/lock-holder.ts';
import { forceUnlock, lockHosts, whoHolds } from '../../src/engine/lock.ts';
import { CommandError, ConnectError } from '../../src/errors.ts';
import { Secret } from '../../src/shell/secret.ts';
import { windowsRemote, type WindowsRemote, type WindowsRemoteOptions } from '../../src/ssh/windows.ts';
import { powershell } from '../../src/templates.ts';
import { dialSsh } from '../fakes/dial-ssh.ts';
import { filesOf } from '../windows/host/machine.ts';
import { type SimulatedWindowsHost, startWindowsHost, type WindowsHostOptions } from '../windows/host/server.ts';

const hosts: SimulatedWindowsHost[] = [];
const remotes: WindowsRemote[] = [];

afterEach(async () => {
  await Promise.all(remotes.splice(0).map((remote) => remote.close()));
  // Broken rules of the protocol fail the test here.
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

async function started(options: Partial<WindowsHostOptions> = {}): Promise<SimulatedWindowsHost> {
  const host = await startWindowsHost({ name: 'win1', ...options });
  hosts.push(host);
  return host;
}

async function connected(
  { host }: SimulatedWindowsHost,
  options: Partial<WindowsRemoteOptions> = {},
): Promise<WindowsRemote> {
  const remote = windowsRemote(host, await dialSsh(host, { policy: 'strict' }), { runId: 'run-1', ...options });
  remotes.push(remote);
  return remote;
}

/** Any script that returns something. */
const question = powershell('windows/uptime.ps1');

const folder = (): string => mkdtempSync(join(tmpdir(), 'kbuild-test-'));

describe('a command', () => {
  test.each(['cmd', 'powershell', 'pwsh'] as const)('returns its JSON, whatever the noise, under %s', async (shell) => {
    const host = await started({ shell });
    expect(JSON.parse(await (await connected(host)).run(question))).toMatch(/^\d+$/);
    expect(host.connections()).toBe(1);
  });

  test('that fails says the script, its status and its error, without XML and carriage returns', async () => {
    const host = await started({ faults: () => 'fails' });
    await expect((await connected(host)).run(question)).rejects.toMatchObject({
      message: expect.stringMatching(/^win1: status 1: windows\/uptime\.ps1\nan injected failure\n/) as string,
      stderr: expect.not.stringMatching(/CLIXML|\r|<Objs/) as string,
    });
  });

  test('whose connection is lost is lost, never done', async () => {
    const host = await started({ faults: ({ count }) => (count === 0 ? 'lost-after' : undefined) });
    const remote = await connected(host);
    await expect(remote.run(question)).rejects.toMatchObject({ status: 'lost' });
    expect(JSON.parse(await remote.run(question))).toMatch(/^\d+$/);
  });

  test('that never answers is given up, with what to look at', async () => {
    const host = await started();
    const blocked = powershell('windows/job-wait.ps1', { Folder: '', Task: 'x', Seconds: 60 });
    host.machine.tasks.set('x', { name: 'x', state: 'Running', lastResult: 0 });
    const remote = await connected(host, { askMs: 500 });
    await expect(remote.ask(blocked)).rejects.toMatchObject({
      message: 'win1: no answer within 0.5 s: windows/job-wait.ps1',
      remedy: expect.stringContaining('Winmgmt') as string,
    });
  });

  test('sees a new PATH on a new connection only', async () => {
    const host = await started();
    const remote = await connected(host);
    await remote.run(question);
    remote.renew();
    await remote.run(question);
    expect(host.connections()).toBe(2);
  });
});

describe('a host that cannot be used says why', () => {
  const refusal = async (host: SimulatedWindowsHost): Promise<ConnectError> => {
    const remote = await connected(host);
    const error: unknown = await remote.run(question).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectError);
    return error as ConnectError;
  };

  test('ConstrainedLanguage', async () => {
    const host = await started();
    host.machine.languageMode = 'ConstrainedLanguage';
    const error = await refusal(host);
    expect(error.message).toContain('PowerShell runs in ConstrainedLanguage for Administrator');
    expect(error.remedy).toContain('WDAC or AppLocker');
    expect(error.retryable).toBe(false);
  });

  test('no subsystem for files', async () => {
    const remote = await connected(await started({ subsystem: 'none' }));
    const writing = remote.write(String.raw`C:\k\x`, 'text');
    await expect(writing).rejects.toBeInstanceOf(ConnectError);
    await expect(writing).rejects.toMatchObject({ remedy: expect.stringContaining('sftp-server.exe') as string });
  });
});

describe('files', () => {
  const path = String.raw`C:\k\join.yaml`;

  test('arrive whole in a private folder, and are moved to their place', async () => {
    const host = await started();
    const remote = await connected(host);
    const content = 'päß\r\n“curly”\n'.repeat(20_000);
    await remote.write(path, content);
    expect(filesOf(host.machine).get(path)).toMatchObject({ path, access: 'inherited' });
    expect(await remote.read('c:/K/JOIN.yaml')).toBe(content);
    expect([...host.machine.files.keys()]).toEqual([path.toLowerCase()]);
  });

  test('that are secrets are private, and in no log', async () => {
    const log: object[] = [];
    const host = await started();
    await (await connected(host, { log: (entry) => log.push(entry) })).write(path, Secret.of('canary'));
    expect(filesOf(host.machine).get(path)?.access).toBe('private');
    expect(JSON.stringify(log)).not.toMatch(/canary|Y2FuYXJ5/);
  });

  test('cut short on their way leave the old one as it was', async () => {
    const host = await started({
      faults: ({ kind, count }) => (kind === 'put' && count === 0 ? 'truncated' : undefined),
    });
    filesOf(host.machine).put(path, 'old');
    const local = join(folder(), 'program.exe');
    writeFileSync(local, Buffer.alloc(300_000, 7));
    const remote = await connected(host);
    await expect(remote.upload(local, path)).rejects.toThrow(/the old file stays/);
    expect(filesOf(host.machine).text(path)).toBe('old');
    await remote.upload(local, path);
    expect(filesOf(host.machine).get(path)?.content.equals(Buffer.alloc(300_000, 7))).toBe(true);
  });

  test('that do not fit leave the old one as it was', async () => {
    const host = await started();
    const remote = await connected(host);
    await remote.write(path, 'old');
    host.machine.freeDiskBytes = 10;
    await expect(remote.write(path, 'x'.repeat(100))).rejects.toBeInstanceOf(CommandError);
    expect(filesOf(host.machine).text(path)).toBe('old');
  });

  test('come back verified, readable for their owner alone', async () => {
    const host = await started();
    filesOf(host.machine).put(path, Buffer.alloc(100_000, 9));
    const to = join(folder(), 'copy');
    await (await connected(host)).download(path, to);
    expect(readFileSync(to).equals(Buffer.alloc(100_000, 9))).toBe(true);
    expect(statSync(to).mode & 0o777).toBe(0o600);
  });

  test('that are not there are an error', async () => {
    await expect((await connected(await started())).read(path)).rejects.toThrow(/SFTP 2: read C:\\k\\join.yaml/);
  });
});

describe('a job', () => {
  test('is a task of SYSTEM; its secrets lie beside it until it ends', async () => {
    const host = await started();
    const remote = await connected(host);
    expect(JSON.parse(await remote.job('look', question, { 'config.yaml': Secret.of('canary') }))).toMatch(/^\d+$/);
    expect(host.machine.tasks.size).toBe(0);
    expect([...host.machine.files.keys()]).toEqual([]);
  });

  test('goes on when the connection is lost, and is started once', async () => {
    const host = await started({
      faults: ({ name, count }) => (/job-(?:start|wait)/.test(name) && count < 2 ? 'lost-after' : undefined),
    });
    const remote = await connected(host, { pause: () => Promise.resolve() });
    expect(JSON.parse(await remote.job('look', question))).toMatch(/^\d+$/);
    expect(host.began.filter((name) => name === 'windows/uptime.ps1')).toHaveLength(1);
  });

  test('that fails says why', async () => {
    const host = await started({ faults: ({ kind }) => (kind === 'job' ? 'fails' : undefined) });
    await expect((await connected(host)).job('look', question)).rejects.toThrow('an injected failure');
  });

  test('that another process ended fails instead of waiting forever, and its secrets are gone', async () => {
    const host = await started({ faults: ({ kind }) => (kind === 'job' ? 'killed' : undefined) });
    const remote = await connected(host);
    await expect(remote.job('look', question, { token: Secret.of('canary') })).rejects.toMatchObject({
      status: 'vanished',
    });
    expect([...host.machine.files.keys()]).toEqual([]);
    expect(host.machine.tasks.size).toBe(0);
  });

  test('of another run is waited for first', async () => {
    const host = await started();
    host.machine.tasks.set('kbuild-job-join-1-run-0', {
      name: 'kbuild-job-join-1-run-0',
      state: 'Running',
      lastResult: 0,
    });
    const followed: string[] = [];
    const remote = await connected(host, {
      onJobFollowed: (summary) => {
        followed.push(summary);
        host.machine.tasks.get('kbuild-job-join-1-run-0')!.state = 'Ready';
      },
    });
    await remote.job('look', question);
    expect(followed).toEqual(['wait for kbuild-job-join-1-run-0, which another run started']);
  });
});

describe('a restart', () => {
  test('is over when the host has been up for less than before: not while the old boot still answers', async () => {
    const host = await started({ restartMs: { goingDown: 400, down: 200 } });
    const remote = await connected(host, { pause: (ms) => new Promise((done) => setTimeout(done, Math.min(ms, 50))) });
    host.machine.features.set('Containers', 'InstallPending');
    const before = host.machine.bootTimeMs;
    await remote.restart();
    expect(host.machine.bootTimeMs).toBeGreaterThan(before);
    expect(host.machine.features.get('Containers')).toBe('Installed');
    // It was asked while it went down, and answered with the old time.
    expect(host.began.filter((name) => name === 'windows/uptime.ps1').length).toBeGreaterThan(2);
    expect(host.began.filter((name) => name === 'windows/restart.ps1')).toHaveLength(1);
  });
});

describe('the lock', () => {
  const holder = (pid: number): LockHolder => ({
    who: 'ann@desk',
    pid,
    since: '2026-11-21T10:00:00Z',
    command: 'kbuild up',
  });

  test('is held by one, told to the other, and free when its connection ends', async () => {
    const host = await started();
    const first = await connected(host);
    const second = await connected(host);
    const lock = await lockHosts([first], holder(1));
    expect(await whoHolds(second)).toBe('ann@desk (pid 1) since 2026-11-21T10:00:00Z: kbuild up');
    await expect(lockHosts([second], holder(2))).rejects.toThrow('win1: refused: locked: held by ann@desk (pid 1)');
    await lock.release();
    await (await lockHosts([second], holder(2))).release();
    expect(await whoHolds(second)).toBeUndefined();
    // kbuild's folder goes with the last lock where nothing of a join or a job is in it.
    expect([...host.machine.folders]).toEqual([]);
  });

  test('is taken again after the connection was lost', async () => {
    const host = await started();
    const remote = await connected(host);
    const lock = await lockHosts([remote], holder(1), { pause: () => new Promise((done) => setTimeout(done, 20)) });
    host.dropAll();
    await expect.poll(() => host.began.filter((name) => name === 'windows/lock.ps1').length).toBe(2);
    await expect.poll(() => host.machine.locks.size).toBe(1);
    await lock.release();
  });

  test('can be freed by force', async () => {
    const host = await started();
    const lock = await lockHosts([await connected(host)], holder(1));
    const other = await connected(host);
    await forceUnlock(other);
    expect(await whoHolds(other)).toBeUndefined();
    await lock.release();
  });

  test('by force ends no process that has the number of the one that held it', async () => {
    const host = await started();
    let isEnded = false;
    host.machine.locks.set('c:\\programdata\\kbuild\\lock', { pid: 4242, holder: 'by ann@desk', startedMs: 1 });
    host.machine.processes.set(4242, { name: 'lsass.exe', startedMs: 2, end: () => void (isEnded = true) });
    const other = await connected(host);
    await forceUnlock(other);
    expect([isEnded, await whoHolds(other)]).toEqual([false, 'ann@desk']);
    host.machine.processes.clear();
  });
});
