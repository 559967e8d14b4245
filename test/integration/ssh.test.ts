// @module-tag linux
// @module-tag ssh
// @module-tag sshd
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CommandError } from '../../src/errors.ts';
import type { Host } from '../../src/inventory/inventory.ts';
import { revealed, Secret } from '../../src/shell/secret.ts';
import { sh } from '../../src/shell/sh.ts';
import { linuxRemote, type LinuxRemote, type LinuxRemoteOptions } from '../../src/ssh/linux.ts';
import { opensshDialler } from '../../src/ssh/openssh.ts';
import type { Transport } from '../../src/ssh/transport.ts';
import { dialSsh } from '../fakes/dial-ssh.ts';
import { type Sshd, startSshd } from './sshd.ts';

const openssh = opensshDialler({ policy: 'strict', home: '/nonexistent' });
afterAll(() => openssh.close());
type Dial = (host: Host) => Promise<Transport>;
const clients: readonly [string, Dial][] = [
  ['built-in', (host) => dialSsh(host, { policy: 'strict' })],
  ['openssh', (host) => openssh.dial(host)],
];

describe.each(clients)('the %s client', (_, dial) => {
  let sshd: Sshd;
  const remotes: LinuxRemote[] = [];

  beforeAll(async () => {
    sshd = await startSshd();
  });
  afterEach(() => Promise.all(remotes.splice(0).map((remote) => remote.close())));
  afterAll(() => sshd.stop());

  async function connect(server = sshd, options: Partial<LinuxRemoteOptions> = {}): Promise<LinuxRemote> {
    const remote = linuxRemote(server.host, await dial(server.host), {
      runId: 'run-1',
      ...options,
    });
    remotes.push(remote);
    return remote;
  }

  const at = (...path: string[]) => join(sshd.folder, ...path);
  const mode = (path: string) => (statSync(path).mode & 0o7777).toString(8);
  /** The same of a file that may go at any moment. */
  const modeIfThere = (path: string): string | undefined => {
    const found = statSync(path, { throwIfNoEntry: false });
    return found === undefined ? undefined : (found.mode & 0o7777).toString(8);
  };
  /** A folder of a test's own, so that nothing else is in it. */
  const folder = () => {
    const path = at(randomBytes(4).toString('hex'));
    mkdirSync(path);
    return path;
  };

  test('commands run one after another on one connection', { tags: ['root'] }, async () => {
    const remote = await connect();
    expect(await remote.run(sh`echo ${"it's"}`)).toBe("it's\n");
    expect(revealed(await remote.reveal(sh`echo token`))).toBe('token\n');
    expect(remote.transport).toMatchObject({ connections: 1, commands: 2 });
  });

  test('a failure has the command, its status and its stderr', async () => {
    const failure = (await connect()).run(sh`echo broken >&2; exit 7`);
    await expect(failure).rejects.toMatchObject({ status: 7, stderr: 'broken\n' });
    await expect(failure).rejects.toThrow('real: status 7: echo broken >&2; exit 7\nbroken');
    await expect(failure).rejects.toBeInstanceOf(CommandError);
  });

  test('a script of 300 KiB arrives whole', async () => {
    const word = 'x'.repeat(300 * 1024);
    expect(await (await connect()).run(sh`word=${word}; echo "\${#word}"`)).toBe(`${String(word.length)}\n`);
  });

  test('a file is written with its mode, parents are made, and is read back to the byte', async () => {
    const remote = await connect();
    const path = join(folder(), 'a', 'b c', "it's");
    const content = 'päß\n\n$HOME `id` \\n'.repeat(20_000);
    await remote.write(path, content);
    expect(mode(path)).toBe('644');
    expect(mode(join(path, '..'))).toBe('755');
    expect(await remote.read(path)).toBe(content);
    await remote.write(path, '', 0o600);
    expect(mode(path)).toBe('600');
    expect(await remote.read(path)).toBe('');
  });

  test('a secret is 0600 from the first moment, and in no log', async () => {
    const log: object[] = [];
    const remote = await connect(sshd, { log: (entry) => log.push(entry) });
    const path = join(folder(), 'secret');
    writeFileSync(path, 'old', { mode: 0o644 });
    const seen = new Set<string | undefined>();
    const watching = setInterval(() => {
      for (const name of readdirSync(join(path, '..')))
        if (name !== 'secret') seen.add(modeIfThere(join(path, '..', name)));
    }, 1);
    await remote.write(path, Secret.of(`canary-${'y'.repeat(4_000_000)}`));
    clearInterval(watching);
    expect(mode(path)).toBe('600');
    expect([...seen].filter((one) => one !== undefined && one !== '600')).toEqual([]);
    expect(JSON.stringify(log)).not.toContain('canary');
  });

  test('a link to a file stays a link; a link to anything else is replaced', async () => {
    const remote = await connect();
    const here = folder();
    writeFileSync(join(here, 'target'), 'old');
    symlinkSync('target', join(here, 'link'));
    symlinkSync('/dev/null', join(here, 'masked'));
    await remote.write(join(here, 'link'), 'new');
    await remote.write(join(here, 'masked'), 'new');
    expect(lstatSync(join(here, 'link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(here, 'target'), 'utf8')).toBe('new');
    expect(lstatSync(join(here, 'masked')).isFile()).toBe(true);
    expect(lstatSync('/dev/null').isCharacterDevice()).toBe(true);
  });

  test('a folder in the way is an error, and stays', async () => {
    const here = folder();
    mkdirSync(join(here, 'x'));
    await expect((await connect()).write(join(here, 'x'), 'text')).rejects.toBeInstanceOf(CommandError);
    expect(readdirSync(here)).toEqual(['x']);
  });

  test('a full disk leaves the old file as it was, and nothing beside it', { tags: ['root'] }, async () => {
    const remote = await connect();
    const here = folder();
    writeFileSync(join(here, 'file'), 'old');
    // RLIMIT_FSIZE stands in for the disk: a write fails in the middle in the same way.
    const small = await startSshd();
    try {
      const limits = linuxRemote(small.host, await dial(small.host), { runId: 'run-2' });
      remotes.push(limits);
      for (const pid of small.connectionProcesses()) await remote.run(sh`prlimit --fsize=100000 --pid ${pid}`);
      await expect(limits.write(join(here, 'file'), 'n'.repeat(2_000_000))).rejects.toBeInstanceOf(CommandError);
    } finally {
      await small.stop();
    }
    expect(readFileSync(join(here, 'file'), 'utf8')).toBe('old');
    expect(readdirSync(here)).toEqual(['file']);
  });

  test(
    'a connection that ends in the middle of a write leaves the old file as it was',
    { tags: ['root'] },
    async () => {
      const remote = await connect();
      const here = folder();
      writeFileSync(join(here, 'file'), 'old');
      const writing = remote.write(join(here, 'file'), 'n'.repeat(200_000_000));
      while (readdirSync(here).length < 2) await new Promise((done) => setTimeout(done, 1));
      for (const pid of sshd.connectionProcesses()) process.kill(pid, 'SIGKILL');
      await expect(writing).rejects.toThrow(/lost/);
      await expect.poll(() => readdirSync(here)).toEqual(['file']);
      expect(readFileSync(join(here, 'file'), 'utf8')).toBe('old');
    },
  );

  test('files go both ways unchanged, and a downloaded one is 0600', async () => {
    const remote = await connect();
    const here = folder();
    const bytes = randomBytes(30_000_000);
    writeFileSync(join(here, 'local'), bytes);
    await remote.upload(join(here, 'local'), join(here, 'remote'), 0o755);
    expect(mode(join(here, 'remote'))).toBe('755');
    await remote.download(join(here, 'remote'), join(here, 'back'));
    expect(mode(join(here, 'back'))).toBe('600');
    const hash = (name: string) =>
      createHash('sha256')
        .update(readFileSync(join(here, name)))
        .digest('hex');
    expect(hash('back')).toBe(hash('local'));
    expect(readdirSync(here).sort()).toEqual(['back', 'local', 'remote']);
  });

  test('a file that is not there is an error on both sides, and leaves nothing', async () => {
    const remote = await connect();
    const here = folder();
    await expect(remote.read(join(here, 'none'))).rejects.toBeInstanceOf(CommandError);
    await expect(remote.download(join(here, 'none'), join(here, 'got'))).rejects.toBeInstanceOf(CommandError);
    await expect(remote.upload(join(here, 'none'), join(here, 'there'))).rejects.toThrow('ENOENT');
    expect(readdirSync(here)).toEqual([]);
  });

  test('a login shell that talks does not disturb', async () => {
    const noisy = at('noisy-shell');
    writeFileSync(noisy, '#!/bin/sh\necho "Welcome!"; echo "locale: cannot set" >&2\nexec /bin/bash "$@"\n');
    chmodSync(noisy, 0o755);
    // sshd runs the login shell of the account; ForceCommand is what a test can change.
    const server = await startSshd([`ForceCommand ${noisy} -c "$SSH_ORIGINAL_COMMAND"`]);
    try {
      const remote = await connect(server);
      expect(await remote.run(sh`echo out`)).toBe('out\n');
      await expect(remote.run(sh`echo err >&2; false`)).rejects.toMatchObject({ stderr: 'err\n' });
      writeFileSync(at('plain'), 'text');
      await remote.download(at('plain'), at('plain.back'));
      expect(readFileSync(at('plain.back'), 'utf8')).toBe('text');
      const held = await remote.hold(sh`echo first; cat >/dev/null`);
      expect(held.first).toBe('first');
      await held.release();
    } finally {
      await server.stop();
    }
  });

  test('an account that runs no command is distinguished from a command that failed', { tags: ['root'] }, async () => {
    const server = await startSshd(['ForceCommand echo This account is currently not available.; exit 1']);
    try {
      await expect((await connect(server)).run(sh`true`)).rejects.toMatchObject({
        stdout: 'This account is currently not available.\n',
        remedy: `${userInfo().username} of real must have a login shell that runs /bin/sh`,
      });
    } finally {
      await server.stop();
    }
  });

  test('a server with MaxSessions 1 is used one command at a time', async () => {
    const server = await startSshd(['MaxSessions 1']);
    try {
      const remote = await connect(server);
      const results = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((word) => remote.run(sh`echo ${word}`)));
      expect(results.join('')).toBe('a\nb\nc\nd\ne\nf\n');
      expect(remote.transport.connections).toBe(1);
    } finally {
      await server.stop();
    }
  });

  test('MaxStartups that lets in two of twelve at a time is survived', async () => {
    const server = await startSshd(['MaxStartups 2:100:3']);
    try {
      const many = await Promise.all(Array.from({ length: 12 }, () => connect(server)));
      expect(await Promise.all(many.map((remote) => remote.run(sh`echo up`)))).toEqual(Array(12).fill('up\n'));
    } finally {
      await server.stop();
    }
  });

  test('after its process was killed a connection is made again', { tags: ['root'] }, async () => {
    const remote = await connect();
    const running = remote.run(sh`sleep 30`);
    await expect.poll(() => remote.transport.commands).toBe(1);
    for (const pid of sshd.connectionProcesses()) process.kill(pid, 'SIGKILL');
    await expect(running).rejects.toThrow(/lost/);
    expect(await remote.run(sh`echo again`)).toBe('again\n');
    expect(remote.transport.connections).toBe(2);
  });

  test('a held command lives as long as its channel', async () => {
    const remote = await connect();
    const alive = at('alive');
    const held = await remote.hold(sh`touch ${alive}; echo held; cat >/dev/null; rm ${alive}`);
    expect(held.first).toBe('held');
    expect(existsSync(alive)).toBe(true);
    await held.release();
    expect(existsSync(alive)).toBe(false);
    expect(await held.ended).toBe(0);
  });
});
