/** Networks and accounts as they should not be: silent hosts, long lines, connections that hang, login shells of all kinds. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { observeLinux } from '../../src/facts/observe-linux.ts';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { linuxRemote, type LinuxRemote } from '../../src/remote/linux.ts';
import { sh } from '../../src/shell/sh.ts';
import { dialSsh, sshDialler } from '../../src/transport/ssh.ts';
import { inventory } from '../fakes/inventory.ts';
import { delayProxy } from './delay-proxy.ts';
import { startSshd, type Sshd } from './sshd.ts';

const folder = mkdtempSync(join(tmpdir(), 'kbuild-hostile-'));
let sshd: Sshd;
const remotes: LinuxRemote[] = [];

async function connect(host: LinuxHost): Promise<LinuxRemote> {
  const remote = linuxRemote(host, await dialSsh(host, { policy: 'strict' }), { runId: 'test' });
  remotes.push(remote);
  return remote;
}
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

test('one host of 50 that never answers delays no other, and is named after the time to connect', async () => {
  const TIMEOUT_MS = 3000;
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const dialler = sshDialler({ policy: 'strict', connectTimeoutMs: TIMEOUT_MS });
  const started = performance.now();
  let lastOther = 0;
  const others = Array.from({ length: 49 }, async () => {
    const transport = await dialler.dial(sshd.host);
    const { stdout } = await transport.exec('echo in');
    lastOther = performance.now() - started;
    await transport.close();
    return stdout;
  });
  const hole = at((silent.address() as AddressInfo).port);
  const verdict = dialler.dial({ ...hole, name: 'hole' }).then(
    () => 'answered',
    (error: unknown) => ({ message: (error as Error).message, ms: performance.now() - started }),
  );
  try {
    expect(await Promise.all(others)).toEqual(Array(49).fill('in\n'));
    const named = await verdict;
    expect(named).toMatchObject({ message: expect.stringMatching(/^hole: .*no answer in time$/) as string });
    // And what a busy machine adds.
    expect((named as { ms: number }).ms).toBeLessThan(TIMEOUT_MS + 5000);
    console.log(
      `49 hosts in ${lastOther.toFixed(0)} ms, the silent one named after ${(named as { ms: number }).ms.toFixed(0)} ms`,
    );
  } finally {
    dialler.close();
    for (const socket of sockets) socket.destroy();
    silent.close();
  }
});

test('half a second there and back: facts come in with the first script, in 12 round trips', async () => {
  const proxy = await delayProxy(sshd.port, 250);
  try {
    const remote = await connect(at(proxy.port));
    const given = inventory();
    const tools = { nowMs: Date.now, nonce: () => 'nonce123456789' };
    const facts = await observeLinux((command) => remote.ask(command), given, remote.host, tools);
    expect(facts.osRelease.id).toBe('debian');
    expect(proxy.turns()).toBeLessThanOrEqual(12);
    expect(remote.transport).toMatchObject({ connections: 1, commands: 1 });
  } finally {
    proxy.close();
  }
});

test('a connection that hangs is lost within a minute, and the next command dials again', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const remote = await connect(sshd.host);
    const begun = join(folder, 'begun');
    const running = remote.run(sh`touch ${begun}; sleep 600`);
    running.catch(() => undefined);
    await expect.poll(() => existsSync(begun), { timeout: 20_000 }).toBe(true);
    const [serving] = sshd.connectionProcesses();
    process.kill(serving!, 'SIGSTOP');
    await vi.advanceTimersByTimeAsync(60_000);
    await expect(running).rejects.toMatchObject({ status: 'lost' });
    process.kill(serving!, 'SIGKILL');
    expect(await remote.run(sh`echo again`)).toBe('again\n');
    expect(remote.transport.connections).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});

describe.each(['fish', 'zsh', 'csh', 'dash', 'bash'])('an account whose login shell is %s', (shell) => {
  test('gives the same facts as any other, and files and held commands work', async () => {
    const wrapper = join(folder, shell);
    writeFileSync(wrapper, `#!/bin/sh\nexec ${shell} -c "$SSH_ORIGINAL_COMMAND"\n`);
    chmodSync(wrapper, 0o755);
    // sshd runs the login shell of the account; ForceCommand is what a test can change.
    const server = await startSshd([`ForceCommand ${wrapper}`]);
    try {
      const remote = await connect(server.host);
      const plain = await connect(sshd.host);
      const command = sh`cat /etc/os-release; echo "$LC_ALL $PATH $0 $-"; printf '%s\n' ${'it\'s $HOME \\ "!" %d *'}`;
      expect(await remote.run(command)).toBe(await plain.run(command));
      const path = join(folder, `${shell}-file`);
      await remote.write(path, 'line\n$x `id` !! \\n\n');
      expect(readFileSync(path, 'utf8')).toBe('line\n$x `id` !! \\n\n');
      expect(await remote.read(path)).toBe('line\n$x `id` !! \\n\n');
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
