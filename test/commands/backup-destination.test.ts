// @module-tag openssl
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deliver, destinationOf } from '../../src/commands/backup-destination.ts';
import { keyringOf, lockOf } from '../../src/commands/backup-file.ts';
import { UsageError } from '../../src/errors.ts';
import type { Context } from '../../src/session/context.ts';
import { revealed } from '../../src/shell/secret.ts';
import { streamOf } from '../fakes/backup.ts';
import { inventoryOf } from '../fakes/cluster.ts';

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'kbuild-test-'));
const contextIn = (cwd: string, over: Partial<Context> = {}): Context =>
  ({ cwd, canAsk: false, env: process.env, ...over }) as unknown as Context;
const BYTES = Buffer.from('encrypted bytes');
const about = (over: { readonly nowMs?: number; readonly signal?: AbortSignal } = {}) => ({
  cluster: 'demo',
  runId: 'run1',
  nowMs: Date.parse('2026-11-21T16:50:45.000Z'),
  env: process.env,
  signal: new AbortController().signal,
  ...over,
});
// oxlint-disable-next-line typescript/require-await
async function* failing(): AsyncIterable<Uint8Array> {
  yield BYTES;
  throw new Error('the disk failed');
}

describe('the place of a backup', () => {
  test('is one: a file, or --to, and --keep needs a folder', async () => {
    const context = contextIn(newFolder());
    for (const [file, flags] of [
      [undefined, {}],
      ['x.age', { to: 'folder' }],
      ['x.age', { keep: 3 }],
      [undefined, { to: 'command:cat', keep: 3 }],
    ] as const)
      await expect(destinationOf(context, file, flags)).rejects.toThrow(UsageError);
    expect(await destinationOf(context, undefined, { to: 'command:cat >x' })).toEqual({
      kind: 'command',
      command: 'cat >x',
    });
  });

  test('a file is new, 0600, and there only when it is whole', async () => {
    const folder = newFolder();
    const to = await destinationOf(contextIn(folder), 'deep/er/x.age', {});
    expect(await deliver(streamOf(BYTES), to, about())).toEqual({ file: join(folder, 'deep/er/x.age'), deleted: [] });
    expect(statSync(join(folder, 'deep/er/x.age')).mode & 0o777).toBe(0o600);
    await expect(destinationOf(contextIn(folder), 'deep/er/x.age', {})).rejects.toThrow('is there already');
    const half = await destinationOf(contextIn(folder), 'y.age', {});
    await expect(deliver(failing(), half, about())).rejects.toThrow('the disk failed');
    expect(readdirSync(folder)).toEqual(['deep']);
  });

  test('a name that something took meanwhile keeps what it has, also a link to a share that is not mounted', async () => {
    const folder = newFolder();
    const to = await destinationOf(contextIn(folder), 'x.age', {});
    symlinkSync('/not-mounted/x.age', join(folder, 'x.age'));
    await expect(deliver(streamOf(BYTES), to, about())).rejects.toThrow('is there already');
    expect(readlinkSync(join(folder, 'x.age'))).toBe('/not-mounted/x.age');
    expect(readdirSync(folder)).toEqual(['x.age']);
  });

  test('a folder keeps the newest of this cluster, and every file that is no backup of it', async () => {
    const folder = newFolder();
    const others = [
      'demo2-20200101T000000-000.backup.age',
      'demo-notes.txt',
      'demo-20200101T000000-000.backup.age.asc',
    ];
    for (const name of others) writeFileSync(join(folder, name), '');
    const to = await destinationOf(contextIn(folder), undefined, { to: folder, keep: 2 });
    const days = [21, 22, 23].map((day) => Date.parse(`2026-11-${String(day)}T00:00:00.000Z`));
    const written = [];
    for (const nowMs of days) written.push(await deliver(streamOf(BYTES), to, about({ nowMs })));
    expect(written.map(({ deleted }) => deleted)).toEqual([[], [], ['demo-20261121T000000-000.backup.age']]);
    expect(readdirSync(folder).sort()).toEqual(
      [...others, 'demo-20261122T000000-000.backup.age', 'demo-20261123T000000-000.backup.age'].sort(),
    );
    await expect(deliver(failing(), to, about())).rejects.toThrow();
    expect(readdirSync(folder)).toHaveLength(others.length + 2);
  });

  test('a folder keeps the backup that was just written, also if older ones have later names', async () => {
    const folder = newFolder();
    const later = ['demo-20991121T000000-000.backup.age', 'demo-20991122T000000-000.backup.age'];
    for (const name of later) writeFileSync(join(folder, name), 'old');
    const to = await destinationOf(contextIn(folder), undefined, { to: folder, keep: 2 });
    const { file, deleted } = await deliver(streamOf(BYTES), to, about());
    expect(deleted).toEqual([later[0]]);
    expect(readFileSync(file!)).toEqual(BYTES);
    expect(readdirSync(folder)).toEqual(['demo-20261121T165045-000.backup.age', later[1]]);
  });

  test('a command gets all of it, and its failure is told', async () => {
    const folder = newFolder();
    const at = join(folder, 'x.age');
    const command = (text: string) => ({ kind: 'command' as const, command: text });
    await deliver(streamOf(BYTES), command(`cat >'${at}'`), about());
    expect(readFileSync(at)).toEqual(BYTES);
    await expect(
      deliver(streamOf(BYTES), command('cat >/dev/null; echo no room >&2; exit 3'), about()),
    ).rejects.toThrow(/status 3\nno room/);
    await expect(deliver(streamOf(Buffer.alloc(4_000_000)), command('exec true'), about())).rejects.toThrow(UsageError);
    await expect(deliver(failing(), command('cat >/dev/null'), about())).rejects.toThrow();
  });

  test('a command is ended with the run', async () => {
    const stop = new AbortController();
    const folder = newFolder();
    const waiting = deliver(
      streamOf(BYTES),
      { kind: 'command', command: `touch '${folder}/begun'; exec sleep 600` },
      about({ signal: stop.signal }),
    );
    const ended = expect(waiting).rejects.toThrow('stopped');
    const begun = setInterval(() => {
      if (existsSync(join(folder, 'begun'))) stop.abort(new Error('stopped'));
    }, 10);
    await ended;
    clearInterval(begun);
  });
});

describe('the lock of a backup', () => {
  const RECIPIENT = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ4zb0xYpG2tOVdYlrZ8RC0Tn5QhVbZ0vT1yKq9mW3cN me@here';
  const inventory = inventoryOf({ backup: { recipients: [RECIPIENT] } });

  test('is the inventory’s recipients, or those of the command line, or a passphrase, never two', async () => {
    const context = contextIn(newFolder());
    expect(await lockOf(context, {}, inventory)).toEqual({ recipients: [RECIPIENT] });
    await expect(lockOf(context, { recipient: ['age1x'] }, inventory)).rejects.toThrow('"age1x" is no recipient');
    await expect(lockOf(context, { recipient: [RECIPIENT], passphraseFile: 'x' }, inventory)).rejects.toThrow(
      UsageError,
    );
    await expect(lockOf(context, {}, inventoryOf())).rejects.toThrow('never written unencrypted');
  });

  test('a passphrase is typed twice, or read from a file that no other user can read', async () => {
    const folder = newFolder();
    const typed = (answers: readonly string[]) => {
      const left = [...answers];
      return contextIn(folder, { canAsk: true, askHidden: () => Promise.resolve(left.shift()!) });
    };
    await expect(lockOf(typed(['one', 'two']), {}, inventoryOf())).rejects.toThrow('not the same');
    const lock = await lockOf(typed(['correct horse', 'correct horse']), {}, inventoryOf());
    expect('passphrase' in lock && revealed(lock.passphrase)).toBe('correct horse');
    writeFileSync(join(folder, 'phrase'), 'correct horse\n', { mode: 0o600 });
    const read = await lockOf(contextIn(folder), { passphraseFile: 'phrase' }, inventory);
    expect('passphrase' in read && revealed(read.passphrase)).toBe('correct horse');
    writeFileSync(join(folder, 'open'), 'correct horse\n', { mode: 0o644 });
    await expect(lockOf(contextIn(folder), { passphraseFile: 'open' }, inventory)).rejects.toThrow('others may read');
    await expect(keyringOf(contextIn(folder), { identity: ['open'] })).rejects.toThrow('others may read');
    await expect(keyringOf(contextIn(folder), {})).rejects.toThrow('no key to open');
    await expect(keyringOf(contextIn(folder), { identity: ['none'] })).rejects.toThrow('cannot be read');
  });
});
