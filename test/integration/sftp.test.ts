// @module-tag linux
// @module-tag ssh
// @module-tag sshd
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ConnectError } from '../../src/errors.ts';
import type { Transport } from '../../src/ssh/transport.ts';
import { dialSsh } from '../fakes/dial-ssh.ts';
import { type Sshd, startSshd } from './sshd.ts';

let sshd: Sshd;
let without: Sshd;
const open: Transport[] = [];
const folder = mkdtempSync(join(tmpdir(), 'kbuild-sftp-'));
const at = (name: string): string => join(folder, name);
const hashOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

beforeAll(async () => {
  [sshd, without] = await Promise.all([startSshd(['Subsystem sftp internal-sftp']), startSshd()]);
});
afterEach(() => Promise.all(open.splice(0).map((transport) => transport.close())));
afterAll(() => Promise.all([sshd.stop(), without.stop()]));

async function dialled(server: Sshd = sshd): Promise<Transport> {
  const transport = await dialSsh(server.host, { policy: 'strict' });
  open.push(transport);
  return transport;
}

describe('files over the SFTP of a real OpenSSH', () => {
  test.each([0, 1, 32 * 1024, 5_000_001])('%i bytes go and come back as they are, on one connection', async (bytes) => {
    const [from, there, back] = [
      at(`from-${String(bytes)}`),
      at(`there-${String(bytes)}`),
      at(`back-${String(bytes)}`),
    ];
    writeFileSync(from, randomBytes(bytes));
    const transport = await dialled();
    await transport.put(from, there);
    expect(hashOf(there)).toBe(hashOf(from));
    await transport.fetchTo(there, back);
    expect(hashOf(back)).toBe(hashOf(from));
    expect(statSync(back).mode & 0o777).toBe(0o600);
    expect(transport.connections).toBe(1);
  });

  test('text from memory replaces what was there, and comes back into memory', async () => {
    const transport = await dialled();
    await transport.put(Buffer.from('a longer text'), at('text'));
    await transport.put(Buffer.from('päß'), at('text'));
    expect((await transport.fetch(at('text'))).toString()).toBe('päß');
  });

  test('a file that is not there has a code, and a local file in the way stays', async () => {
    const transport = await dialled();
    await expect(transport.fetch(at('nobody'))).rejects.toMatchObject({ name: 'TransferError', code: 2 });
    await expect(transport.put(Buffer.from('x'), at('no/folder'))).rejects.toMatchObject({ code: 2 });
    writeFileSync(at('mine'), 'mine');
    await expect(transport.fetchTo(at('text'), at('mine'))).rejects.toMatchObject({ code: 'EEXIST' });
    expect(readFileSync(at('mine'), 'utf8')).toBe('mine');
    await expect(transport.put(at('not-here'), at('x'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test(
    'a connection that is lost meanwhile is an error, and the next transfer has another',
    { tags: ['root'] },
    async () => {
      writeFileSync(at('big'), '');
      truncateSync(at('big'), 300_000_000);
      const transport = await dialled();
      const sending = transport.put(at('big'), at('big-there'));
      sending.catch(() => undefined);
      await expect.poll(() => existsSync(at('big-there'))).toBe(true);
      for (const pid of sshd.connectionProcesses()) process.kill(pid, 'SIGKILL');
      await expect(sending).rejects.toMatchObject({ name: 'TransferError', code: 'lost' });
      await transport.put(Buffer.from('again'), at('again'));
      expect(transport.connections).toBe(2);
    },
  );

  test('a server without SFTP is distinguished, with the setting that enables it', async () => {
    const error: unknown = await (
      await dialled(without)
    )
      .put(Buffer.from('x'), at('x'))
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectError);
    expect(error).toMatchObject({
      retryable: false,
      remedy: expect.stringContaining('Subsystem sftp sftp-server.exe') as string,
    });
  });
});

test('a new login leaves what runs on the old one alone', async () => {
  const transport = await dialled();
  const channel = await transport.open('cat', 'first\n');
  const seen: string[] = [];
  channel.onLine((line) => seen.push(line));
  await expect.poll(() => seen).toEqual(['first']);
  transport.renew();
  expect((await transport.exec('echo new')).stdout).toBe('new\n');
  expect(transport.connections).toBe(2);
  channel.write('second\n');
  await expect.poll(() => seen).toEqual(['first', 'second']);
  channel.close();
  expect((await channel.ended).status).toBe(0);
});
