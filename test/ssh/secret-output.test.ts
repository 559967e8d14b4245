import { expect, test } from 'vitest';
import type { LinuxHost } from '../../src/inventory/inventory.ts';
import { sh } from '../../src/shell/sh.ts';
import { linuxRemote, type LinuxRemote } from '../../src/ssh/linux.ts';

const KEY = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC';

/** A host on which every script begins, prints a part of a key, and ends like this. */
function hostWith(status: number | 'lost'): LinuxRemote {
  const printed = { stdout: `word\n${KEY}`, stderr: 'word\n', status };
  const host = { name: 'cp1', ssh: { user: 'root' } } as LinuxHost;
  const transport = { exec: () => Promise.resolve(printed) };
  return linuxRemote(host, transport as unknown as Parameters<typeof linuxRemote>[1], {
    runId: 'test',
    nonce: () => 'word',
  });
}

const failureOf = async (asked: Promise<unknown>): Promise<string> =>
  JSON.stringify(
    await asked.then(
      () => ({}),
      (error: unknown) => Object.assign({ text: String(error) }, error),
    ),
  );

const COMMAND = { ...sh`cat /etc/kubernetes/pki/ca.key`, title: 'read the key' };

test.each(['lost', 1] as const)('of what was printed before a failure (%s) no error shows a secret', async (status) => {
  for (const asked of [
    (on: LinuxRemote) => on.reveal(COMMAND),
    (on: LinuxRemote) => on.read('/etc/kubernetes/pki/ca.key'),
  ]) {
    const text = await failureOf(asked(hostWith(status)));
    expect(text).toContain(`cp1: status ${String(status)}: read `);
    expect(text).not.toContain(KEY);
  }
});

test('the output of a command that holds no secret is shown', async () => {
  expect(await failureOf(hostWith(1).run(COMMAND))).toContain(KEY);
});
