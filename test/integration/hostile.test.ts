// @module-tag linux
// @module-tag ssh
// @module-tag sshd
/** Networks and accounts as they should not be: silent hosts, long lines, connections that hang, login shells of all kinds. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import { observeLinux, type Subject } from '../../src/cluster/fleet/observe-linux.ts';
import { watchedOn } from '../../src/commands/every.phases.ts';
import { slowLogin } from '../../src/host/machine.check.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';
import { sh } from '../../src/shell/sh.ts';
import { linuxRemote, type LinuxRemote } from '../../src/ssh/linux.ts';
import { sshDialler } from '../../src/ssh/ssh2.ts';
import { dialSsh } from '../fakes/dial-ssh.ts';
import { inventory } from '../fakes/inventory.ts';
import { pathOf } from '../needs/table.ts';
import { delayProxy } from './delay-proxy.ts';
import { type Sshd, startSshd } from './sshd.ts';

const folder = mkdtempSync(join(tmpdir(), 'kbuild-hostile-'));
let sshd: Sshd;
const remotes: LinuxRemote[] = [];

async function connect(host: LinuxHost): Promise<LinuxRemote> {
  const remote = linuxRemote(host, await dialSsh(host, { policy: 'strict' }), { runId: 'test' });
  remotes.push(remote);
  return remote;
}
/** The host, observed as the first host of the inventory is. */
const subject = (given: Inventory, host: LinuxHost): Subject => ({
  inventory: given,
  host,
  watched: watchedOn(given)(given.hosts[0]!),
});

/** The host behind another port, known by the same keys. */
function at(port: number): LinuxHost {
  const file = join(folder, `known-${String(port)}`);
  const known = readFileSync(join(sshd.folder, 'known_hosts'), 'utf8');
  writeFileSync(file, known.replace(`:${String(sshd.port)} `, `:${String(port)} `));
  return { ...sshd.host, ssh: { ...sshd.host.ssh, port, knownHostsFiles: [file] } };
}

beforeAll(async () => {
  sshd = await startSshd(['MaxStartups 200:100:200']);
});
afterEach(async () => {
  await Promise.all(remotes.splice(0).map((remote) => remote.close()));
});
afterAll(async () => {
  await sshd.stop();
  rmSync(folder, { recursive: true });
});

/** A server that lets everyone connect and never says a word. */
async function silentServer(): Promise<{ readonly port: number; readonly close: () => void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

test('one host of 50 that never answers delays no other', async () => {
  const silent = await silentServer();
  // Longer than this test may take: the others do not wait for its end, however busy the machine is.
  const dialler = sshDialler({ policy: 'strict', connectTimeoutMs: 600_000 });
  const started = performance.now();
  try {
    const hole = dialler.dial({ ...at(silent.port), name: 'hole' }).then(
      () => 'answered',
      () => 'given up',
    );
    const others = Array.from({ length: 49 }, async () => {
      const transport = await dialler.dial(sshd.host);
      const { stdout } = await transport.exec('echo in');
      await transport.close();
      return stdout;
    });
    expect(await Promise.all(others)).toEqual(Array(49).fill('in\n'));
    console.log(`49 hosts in ${(performance.now() - started).toFixed(0)} ms`);
    dialler.close();
    silent.close();
    expect(await hole).toBe('given up');
  } finally {
    dialler.close();
    silent.close();
  }
});

test('a host that never answers is tried twice, and named after the time to connect', async () => {
  const TIMEOUT_MS = 500;
  const silent = await silentServer();
  const dialler = sshDialler({ policy: 'strict', connectTimeoutMs: TIMEOUT_MS });
  const started = performance.now();
  try {
    await expect(dialler.dial({ ...at(silent.port), name: 'hole' })).rejects.toThrow(/^hole: .*no answer in time$/);
    expect(performance.now() - started).toBeGreaterThanOrEqual(2 * TIMEOUT_MS);
  } finally {
    dialler.close();
    silent.close();
  }
});

test(
  'half a second there and back: facts come in with the first script, in 12 round trips',
  { tags: ['root'] },
  async () => {
    const proxy = await delayProxy(sshd.port, 250);
    try {
      const remote = await connect(at(proxy.port));
      const given = inventory();
      const tools = { nowMs: Date.now, nonce: () => 'nonce123456789' };
      const facts = await observeLinux((command) => remote.ask(command), subject(given, remote.host), tools);
      expect(facts.osRelease.id).toBe('debian');
      expect(proxy.turns()).toBeLessThanOrEqual(12);
      expect(remote.transport).toMatchObject({ connections: 1, commands: 1 });
    } finally {
      proxy.close();
    }
  },
);

test('a connection that hangs is lost within a minute, and the next command dials again', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const remote = await connect(sshd.host);
    const begun = join(folder, 'begun');
    const running = remote.run(sh`touch ${begun}; sleep 600`);
    running.catch(() => undefined);
    await expect.poll(() => existsSync(begun), { timeout: 20_000 }).toBe(true);
    const serving = sshd.servingProcesses();
    for (const pid of serving) process.kill(pid, 'SIGSTOP');
    await vi.advanceTimersByTimeAsync(60_000);
    await expect(running).rejects.toMatchObject({ status: 'lost' });
    for (const pid of serving) process.kill(pid, 'SIGKILL');
    expect(await remote.run(sh`echo again`)).toBe('again\n');
    expect(remote.transport.connections).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});

test('200 MB without a line break, no character of them valid: memory stays bounded, and the status is right', async () => {
  const transport = await dialSsh(sshd.host, { policy: 'strict' });
  try {
    const before = process.memoryUsage.rss();
    let most = before;
    const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
    const command = String.raw`/bin/sh -c "head -c 200000000 /dev/zero | tr '\\000' '\\377'; exit 7"`;
    const { stdout, status, dropped } = await transport.exec(command, { maxBytes: 1_000_000 });
    clearInterval(timer);
    expect(status).toBe(7);
    expect(dropped).toBe(199_000_000);
    expect(stdout.replaceAll('\ufffd', '')).toMatch(/^.{0,10}\n?\[199000000 bytes left out\]\n?$/);
    console.log(`memory grew by ${((most - before) / 1e6).toFixed(0)} MB at most`);
    expect(most - before).toBeLessThan(100e6);
  } finally {
    await transport.close();
  }
});

for (const shell of ['fish', 'zsh', 'csh', 'dash', 'bash'] as const)
  describe(`an account whose login shell is ${shell}`, { tags: [shell, 'root'] }, () => {
    test('gives the same facts as any other, and files and held commands work', async () => {
      const path = pathOf(shell);
      const server = await startSshd([], path);
      try {
        const raw = await dialSsh(server.host, { policy: 'strict' });
        const { stdout } = await raw.exec("sh -c 'readlink /proc/$PPID/exe'; true");
        expect(stdout.trim()).toBe(realpathSync(path));
        await raw.close();
        const remote = await connect(server.host);
        const plain = await connect(sshd.host);
        const command = sh`cat /etc/os-release; echo "$LC_ALL $PATH $0 $-"; printf '%s\n' ${'it\'s $HOME \\ "!" %d *'}`;
        expect(await remote.run(command)).toBe(await plain.run(command));
        const file = join(folder, `${shell}-file`);
        await remote.write(file, 'line\n$x `id` !! \\n\n');
        expect(readFileSync(file, 'utf8')).toBe('line\n$x `id` !! \\n\n');
        expect(await remote.read(file)).toBe('line\n$x `id` !! \\n\n');
        const nasty = join(folder, `${shell} it's "a" $HOME %d \\ file\r`);
        await remote.write(nasty, 'a\r\nb\r');
        expect(readFileSync(nasty, 'utf8')).toBe('a\r\nb\r');
        const alive = join(folder, `${shell}-alive`);
        const held = await remote.hold(sh`touch ${alive}; echo held; cat >/dev/null; rm ${alive}`);
        expect(held.first).toBe('held');
        await held.release();
        expect(existsSync(alive)).toBe(false);
      } finally {
        await server.stop();
      }
    });
  });

test('an account whose .bashrc takes its time is said to be one', { tags: ['bash', 'root'] }, async () => {
  const server = await startSshd([], '/bin/bash');
  try {
    const all = inventory();
    const found = async () => {
      const remote = await connect(server.host);
      const asked = { nowMs: Date.now, nonce: () => 'word', loginMs: remote.transport.loginMs };
      const { login } = await observeLinux((command) => remote.ask(command), subject(all, server.host), asked, [
        'login',
      ]);
      expect(login.sshdMs).toBeGreaterThan(0);
      const facts = { login } as LinuxFacts;
      const fleet = { hosts: [{ os: 'linux' as const, host: server.host, facts }], unreachable: [] };
      return {
        shellMs: login.shellMs!,
        messages: slowLogin.test({ inventory: all, fleet } as never).map(({ message }) => message),
      };
    };
    const quick = await found();
    // On a machine that is slow at everything both are reported, rightly.
    if (quick.shellMs < 1500) expect(quick.messages.filter((text) => text.includes('login shell'))).toEqual([]);
    writeFileSync(join(server.folder, '.bashrc'), 'sleep 1.6\n');
    const slow = await found();
    expect(slow.shellMs).toBeGreaterThanOrEqual(1590);
    expect(slow.messages).toContainEqual(expect.stringMatching(/its login shell took \d+\.\d/));
  } finally {
    await server.stop();
  }
});

test(
  'an account whose .bashrc ends the shell is said to be one that runs nothing',
  { tags: ['bash', 'root'] },
  async () => {
    const server = await startSshd([], '/bin/bash');
    try {
      writeFileSync(join(server.folder, '.bashrc'), 'exit 1\n');
      const remote = await connect(server.host);
      await expect(remote.run(sh`true`)).rejects.toMatchObject({
        remedy: expect.stringContaining('must have a login shell that runs /bin/sh') as string,
      });
    } finally {
      await server.stop();
    }
  },
);

test('an account whose login shell runs nothing is said to be one', { tags: ['root'] }, async () => {
  const server = await startSshd([], '/usr/sbin/nologin');
  try {
    const remote = await connect(server.host);
    await expect(remote.run(sh`true`)).rejects.toMatchObject({
      message: expect.stringContaining('This account is currently not available') as string,
      remedy: expect.stringContaining('must have a login shell') as string,
    });
  } finally {
    await server.stop();
  }
});
