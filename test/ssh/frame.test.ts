// @module-tag bash
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { framed, framedWithInput, unframed } from '../../src/ssh/root.ts';
import { pathOf } from '../needs/table.ts';

const NONCE = 'nonce-1';
const folder = mkdtempSync(join(tmpdir(), 'kbuild-frame-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What the command line of a frame makes of an input, run by the login shell as sshd does. */
function run({ commandLine, stdin }: { commandLine: string; stdin: string }, login = pathOf('bash')) {
  const { stdout, stderr, status } = spawnSync(login, ['-c', commandLine], { input: stdin, encoding: 'utf8' });
  return { stdout, stderr, status: status ?? 'lost' };
}

for (const shell of ['bash', 'dash'] as const)
  test(`a script runs, with its streams framed (${shell})`, { tags: [shell] }, () => {
    const result = run(framed('none', 'echo out; echo err >&2; exit 4', NONCE), pathOf(shell));
    expect(unframed(result, NONCE)).toEqual({ stdout: 'out\n', stderr: 'err\n', status: 4 });
  });

test('a command cannot eat the rest of its script', () => {
  expect(run(framed('none', 'cat\necho still here', NONCE)).stdout).toBe(`${NONCE}\nstill here\n`);
});

test('the first failure ends a script; an unset variable is one', () => {
  expect(run(framed('none', 'false\necho no', NONCE))).toMatchObject({ status: 1, stdout: `${NONCE}\n` });
  expect(run(framed('none', 'echo "$nothing"', NONCE)).status).not.toBe(0);
});

test('the environment does not depend on who logs in', () => {
  const { stdout } = run(framed('none', 'echo "$LC_ALL:$LANGUAGE:$PATH"; umask', NONCE));
  expect(stdout).toContain('C::/usr/local/sbin:');
  expect(stdout).toContain('/usr/sbin:');
  expect(stdout).toMatch(/\n0022\n$/);
});

test('a script that is cut off anywhere runs nothing at all', { tags: ['dash'] }, () => {
  const canary = join(folder, 'canary');
  const script = `f() {\ntouch ${canary}\n}\nf\nif true; then\n  f\nfi\nfor i in 1 2; do f; done\ntouch ${canary} # end`;
  for (const make of [framed, framedWithInput]) {
    const { commandLine, stdin } = make('none', script, NONCE);
    // The last line is complete only with its line break; after `} </dev/null` the script itself is whole.
    const whole = make === framed ? stdin.lastIndexOf('}') : stdin.length - 1;
    writeFileSync(join(folder, 'stdin'), stdin);
    // In one shell, because starting a process from here costs more than all that one does.
    const all = `length=0; while [ "$length" -le ${String(whole)} ]; do
      head -c "$length" stdin | "$LOGIN" -c "$COMMAND" >/dev/null 2>&1 || :
      length=$((length + 3))
    done; echo "$length"`;
    const { stdout } = spawnSync('/bin/sh', ['-c', all], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, LOGIN: pathOf('dash'), COMMAND: commandLine },
    });
    expect(Number(stdout)).toBeGreaterThan(whole);
    expect(existsSync(canary)).toBe(false);
  }
});

test('a script with input reads what follows it, byte by byte as it was', () => {
  const { commandLine, stdin } = framedWithInput('none', 'cat', NONCE);
  const input = 'päßwörd\n\\n $HOME `id`\n'.repeat(5000);
  expect(run({ commandLine, stdin: stdin + input }).stdout).toBe(`${NONCE}\n${input}`);
});

test('other users go through sudo, with the same words', () => {
  expect(framed('sudo', 'true', NONCE).commandLine).toBe('env LC_ALL=C sudo -n /bin/sh -s');
});

test('what a login shell prints first is dropped; without the nonce the script never began', () => {
  const noisy = { stdout: `welcome\nlast login ${NONCE}\nout`, stderr: 'warning\n', status: 0 };
  expect(unframed(noisy, NONCE)).toEqual({ stdout: 'out', stderr: 'warning\n', status: 0 });
  expect(unframed({ stdout: 'This account is not available.\n', stderr: '', status: 1 }, NONCE)).toBeUndefined();
});
