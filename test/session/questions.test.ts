import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { Interrupted } from '../../src/errors.ts';
import type { Context } from '../../src/session/context.ts';
import { questions } from '../../src/session/dialler.ts';
import { UnknownHostKey } from '../../src/ssh/host-key-guard.ts';
import { linuxHost } from '../fakes/inventory.ts';

const folder = mkdtempSync(join(tmpdir(), 'kbuild-questions-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A public key of type ssh-ed25519 (RFC 4253, 6.6). */
const keyOf = (byte: number): Buffer => {
  const part = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
  return Buffer.concat([part(Buffer.from('ssh-ed25519')), part(Buffer.alloc(32, byte))]);
};

function unknownKey(name: string, byte: number, file: string): UnknownHostKey {
  const host = linuxHost(name, { address: `10.0.0.${String(byte)}` });
  const endpoint = { ...host, ssh: { ...host.ssh, port: 22, knownHostsFiles: [join(folder, file)] } };
  return new UnknownHostKey(endpoint, { key: keyOf(byte), known: { address: host.address, port: 22 } }, 'compare it');
}

/** Answers one question after another; `open` is how many were open at once at most. */
function asked(answers: readonly (string | Error)[]) {
  const left = [...answers];
  const prompts: string[] = [];
  let now = 0;
  const most = { open: 0 };
  const answer = async (prompt: string): Promise<string> => {
    prompts.push(prompt);
    most.open = Math.max(most.open, (now += 1));
    await Promise.resolve();
    now -= 1;
    const next = left.shift() ?? '';
    if (next instanceof Error) throw next;
    return next;
  };
  let text = '';
  const context = {
    canAsk: true,
    ask: answer,
    askHidden: answer,
    err: (shown: string) => void (text += shown),
  } as Partial<Context> as Context;
  return { prompts, most, text: () => text, questions: questions(context, () => undefined)! };
}

describe('the question about an unknown host key', () => {
  test('shows the machine and the key as ssh shows them', async () => {
    const { questions: all, prompts, text } = asked(['no']);
    const unknown = unknownKey('cp1', 1, 'shown');
    expect(await all.trust(unknown)).toBe(false);
    expect(text()).toBe(
      [
        "The authenticity of host 'cp1 (10.0.0.1:22)' can't be established.",
        `ED25519 key fingerprint is ${unknown.fingerprint}.`,
        `The key is not known. A yes records it in ${join(folder, 'shown')}.`,
        '',
      ].join('\n'),
    );
    expect(prompts).toEqual(['Are you sure you want to continue connecting (yes/no/[fingerprint])? ']);
  });

  test('is answered by yes or by the fingerprint: the key is recorded', async () => {
    const second = unknownKey('w2', 3, 'recorded');
    const { questions: all } = asked(['yes', second.fingerprint]);
    expect(await all.trust(unknownKey('w1', 2, 'recorded'))).toBe(true);
    expect(await all.trust(second)).toBe(true);
    expect(readFileSync(join(folder, 'recorded'), 'utf8')).toBe(
      [2, 3].map((byte) => `10.0.0.${String(byte)} ssh-ed25519 ${keyOf(byte).toString('base64')}\n`).join(''),
    );
  });

  test('is asked again after the fingerprint of another key, which records nothing', async () => {
    const { questions: all, prompts } = asked([unknownKey('w9', 9, 'other').fingerprint, 'y', 'no']);
    expect(await all.trust(unknownKey('w1', 4, 'other'))).toBe(false);
    expect(prompts[1]).toContain('This is not the fingerprint of the key');
    expect(prompts[2]).toBe("Please type 'yes', 'no' or the fingerprint: ");
    expect(() => readFileSync(join(folder, 'other'))).toThrow('ENOENT');
  });

  test('is asked once for a bastion that hosts share, and one question at a time beside passwords', async () => {
    const { questions: all, prompts, most } = asked(['yes', 'pass', 'no']);
    const bastion = (): UnknownHostKey => unknownKey('w1', 5, 'bastion');
    const answers = await Promise.all([
      all.trust(bastion()),
      all.trust(bastion()),
      all.sudo('ubuntu').then(() => true),
      all.trust(unknownKey('w2', 6, 'bastion')),
    ]);
    expect(answers).toEqual([true, true, true, false]);
    expect(prompts).toHaveLength(3);
    expect(most.open).toBe(1);
    expect(all.isAsking()).toBe(false);
  });

  test('that is interrupted ends all others', async () => {
    const { questions: all, prompts } = asked([new Interrupted('interrupted')]);
    const results = await Promise.allSettled([
      all.trust(unknownKey('w1', 7, 'stopped')),
      all.trust(unknownKey('w2', 8, 'stopped')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(prompts).toHaveLength(1);
  });
});
