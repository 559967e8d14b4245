import { describe, expect, test } from 'vitest';
import { commandLineError, ended } from '../../src/cli/command-line-error.ts';
import { ConnectError } from '../../src/errors.ts';
import { BUGS } from '../../src/versions.ts';

const NAMES = ['init', 'status', 'remove', 'reset', 'restore', 'unlock', 'up'];
const unknown = (word: string) =>
  commandLineError(
    { code: 'commander.unknownCommand', message: `error: unknown command '${word}'` },
    { command: 'kbuild', names: NAMES },
  );
const option = (flag: string, command = 'kbuild up') =>
  commandLineError(
    { code: 'commander.unknownOption', message: `error: unknown option '${flag}'` },
    { command, names: [] },
  );

describe('a word that is no command', () => {
  test('is answered with the command that was meant', () => {
    expect(unknown('stauts')).toMatchObject({
      exitCode: 2,
      message: '"stauts" is no command of kbuild',
      remedy: 'did you mean "status"?',
    });
    expect(unknown('apply').remedy).toContain('`kbuild up`');
    expect(unknown('expand').remedy).toContain('`kbuild up` joins the hosts');
    expect(unknown('xyzzy').remedy).toBe('kbuild --help lists them');
  });

  test.each(['rest', 'restor', 'resett', 'remov', 'unlok'])('never leads to a destructive command: %s', (word) => {
    expect(unknown(word).remedy).not.toMatch(/reset|restore|remove|unlock/);
  });

  test.each(['destroy', 'delete', 'uninstall'])('%s is explained, and asks to read the help first', (word) => {
    expect(unknown(word).remedy).toContain('read `kbuild reset --help`');
  });
});

test('options of other tools have the words of kbuild, others the help of their command', () => {
  expect(option('--dry-run').remedy).toContain('`kbuild plan`');
  expect(option('-o').remedy).toContain('--json');
  expect(option('--yes', 'kbuild reset').remedy).toContain('--yes-destroy NAME');
  expect(option('--what', 'kbuild etcd snapshot save').remedy).toBe('see `kbuild etcd snapshot save --help`');
});

describe('the end of a command', () => {
  test('by an error of kbuild: the message, its remedy, its exit code', () => {
    const error = new ConnectError('w1', 'no answer', { retryable: true, remedy: 'is it up?' });
    expect(ended(error, '1.0.0')).toEqual({ text: 'kbuild: w1: no answer\n  → is it up?\n', exitCode: 3 });
  });

  test.each([
    ['ENOSPC', 'the disk is full', 'make room, or name a path on another disk'],
    ['EACCES', 'permission denied', 'change the rights of the file and its folder, or name another path'],
    ['ENOENT', 'there is no such file or folder', 'check the path; kbuild does not create its folder'],
    ['EHOSTUNREACH', 'no route to it', 'is the host up, and is its address right?'],
    ['EAI_AGAIN', 'no name server answers', 'check the network and the name servers of this machine'],
  ])('by %s of the system: words and a remedy, exit 2, and never a bug', (code, text, remedy) => {
    const error = Object.assign(new Error(`${code}: x, open '/a/b'`), { code, syscall: 'open', path: '/a/b' });
    expect(ended(error, '1.0.0')).toEqual({ text: `kbuild: /a/b: ${text}\n  → ${remedy}\n`, exitCode: 2 });
  });

  test('by a bug: where to report it and what to attach, exit 1', () => {
    const { text, exitCode } = ended(new TypeError('x is undefined'), '1.0.0');
    expect(exitCode).toBe(1);
    expect(text).toContain('this is a bug in kbuild');
    expect(text).toContain(BUGS);
    expect(text).toMatch(/Attach the command line, .* \(kbuild 1\.0\.0, Node v\d+.*\), and the log of the run/);
    expect(text).toContain('TypeError: x is undefined');
  });
});
