import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/shell/secret.ts';
import { becomeRoot, type Exec } from '../../src/ssh/root.ts';
import { linuxHost } from '../fakes/inventory.ts';

/** A machine with these programs and no others; what runs is a real shell. */
function machine(programs: Readonly<Record<string, string>>): Exec {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-privilege-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries({ env: 'exec /usr/bin/env "$@"', ...programs })) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return ({ commandLine, stdin }) => {
    const env = { PATH: folder };
    const { stdout, stderr, status } = spawnSync('/bin/sh', ['-c', commandLine], {
      input: stdin,
      encoding: 'utf8',
      env,
    });
    return Promise.resolve({ stdout, stderr, status: status ?? 'lost' });
  };
}
const host = linuxHost('w1', { ssh: { user: 'ops', port: 22, knownHostsFiles: [] } });
const becoming = (exec: Exec) =>
  becomeRoot(
    host,
    exec,
    () => 'nonce123456789',
    () => Promise.reject(new Error('asked for a password')),
  );

test('where there is no sudo, doas does it, and is never let ask', async () => {
  expect(await becoming(machine({ doas: '[ "$1" = -n ] || exit 9; shift; exec "$@"' }))).toBe('doas');
});

test('a doas that wants a password is refused with the line that it needs', async () => {
  await expect(becoming(machine({ doas: 'echo "doas: Authentication required" >&2; exit 1' }))).rejects.toMatchObject({
    message: expect.stringContaining('there is no sudo, and doas does not do it without a password') as string,
    remedy: 'install sudo, or put "permit nopass ops" into /etc/doas.conf',
  });
});

test('sudo goes before doas', async () => {
  const runs = 'while [ "${1#-}" != "$1" ]; do shift; done; exec "$@"';
  expect(await becoming(machine({ sudo: runs, doas: 'exit 1' }))).toBe('sudo');
});

// Words of sudo-rs 0.2.15, which Ubuntu 26.04 has as `sudo`; newer ones say "Interaction is required".
test.each([
  ["sudo: I'm sorry ops. I'm afraid I can't do that", 'sudo does not allow it'],
  ['sudo: interactive authentication is required', 'sudo wants a password'],
  ['sudo: Interaction is required', 'sudo wants a password'],
])('the refusal %j of sudo-rs is understood', async (words, message) => {
  const exec = machine({ sudo: `echo "${words}" >&2; exit 1` });
  await expect(
    becomeRoot(
      host,
      exec,
      () => 'nonce123456789',
      () => Promise.resolve(undefined),
    ),
  ).rejects.toThrow(message);
});

test.each([
  [
    'sudo: Authentication failed, try again.\nsudo: Authentication required but not attempted',
    'sudo does not accept the password',
  ],
  ["sudo: I'm sorry ops. I'm afraid I can't do that", 'sudo does not allow it'],
])('after a password, %j of sudo-rs is understood', async (words, message) => {
  const asked = 'sudo: interactive authentication is required';
  const exec: Exec = ({ commandLine }) =>
    Promise.resolve({ stdout: '', stderr: commandLine.includes('sudo -k -S') ? words : asked, status: 1 });
  await expect(
    becomeRoot(
      host,
      exec,
      () => 'nonce123456789',
      () => Promise.resolve(Secret.of('wrong')),
    ),
  ).rejects.toThrow(message);
});
