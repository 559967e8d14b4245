/** The one command line that becomes root means the same to every login shell that an account may have. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { framed, type Framed, framedWithInput, unframed, withPassword } from '../../src/ssh/root.ts';
import { pathOf } from '../needs/table.ts';

const NONCE = 'nonce-1';
const PASSWORD = ' it\'s $HOME \\n `id` "!!" %d * ';
const INPUT = 'päßwörd\n\\n $HOME `id` !! "\'\r\n'.repeat(2000);

const folder = mkdtempSync(join(tmpdir(), 'kbuild-login-shells-'));
const at = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

/** Notes how it was called and the password that it reads where it is to read one, then runs the command as it is told. */
const SUDO = `#!/bin/sh
printf '%s\\0' "$LC_ALL" "$@" >${at('words')}
while :; do
  case $1 in
    -S) IFS= read -r password; printf %s "$password" >${at('password')} ;;
    -p) shift ;;
    -*) ;;
    *) break ;;
  esac
  shift
done
exec "$@"
`;
mkdirSync(at('bin'));
writeFileSync(at('bin/sudo'), SUDO);
chmodSync(at('bin/sudo'), 0o755);

beforeEach(() => {
  for (const name of ['words', 'password', 'tmp']) rmSync(at(name), { recursive: true, force: true });
  mkdirSync(at('tmp'));
});

/** What a login shell, run as sshd runs it, makes of the command line, and what sudo saw of it. */
function runIn(login: string, { commandLine, stdin }: Framed, input = '') {
  const env = { PATH: `${at('bin')}:/usr/bin:/bin`, HOME: folder, TMPDIR: at('tmp'), LC_ALL: 'C.UTF-8' };
  const ran = spawnSync(login, ['-c', commandLine], { input: stdin + input, encoding: 'utf8', env });
  expect(existsSync(at('words')), ran.stderr).toBe(true);
  const words = readFileSync(at('words'), 'utf8')
    .replaceAll(/\btmp\.\w+/g, 'tmp.X')
    .split('\0')
    .slice(0, -1);
  const result = unframed({ stdout: ran.stdout, stderr: ran.stderr, status: ran.status ?? 'lost' }, NONCE);
  return { words, result };
}

for (const shell of ['fish', 'zsh', 'csh', 'dash', 'bash'] as const)
  describe(`in ${shell}`, { tags: [shell] }, () => {
    const run = (framedLine: Framed, input = '') => runIn(pathOf(shell), framedLine, input);
    const script = 'echo out; echo err >&2; exit 4';
    const ended = { stdout: 'out\n', stderr: 'err\n', status: 4 };

    test('sudo without a password runs a script', () => {
      const { words, result } = run(framed('sudo', script, NONCE));
      expect(words).toEqual(['C', '-n', '/bin/sh', '-s']);
      expect(result).toEqual(ended);
    });

    test('sudo without a password runs a script, which gets its input byte by byte as it was', () => {
      const { words, result } = run(framedWithInput('sudo', 'cat; exit 4', NONCE), INPUT);
      expect(words.slice(0, -1)).toEqual(['C', '-n', '/bin/sh', '-c']);
      expect(result).toEqual({ stdout: INPUT, stderr: '', status: 4 });
      expect(words).toEqual(runIn('/bin/sh', framedWithInput('sudo', ':', NONCE)).words);
    });

    test('sudo with a password reads it as it was, and runs a script', () => {
      const { words, result } = run(framed(withPassword(PASSWORD), script, NONCE));
      expect(words.slice(0, -1)).toEqual(['C', '-k', '-S', '-p', '', '/bin/sh', '-c']);
      expect(readFileSync(at('password'), 'utf8')).toBe(PASSWORD);
      expect(result).toEqual(ended);
      expect(readdirSync(at('tmp'))).toEqual([]);
      expect(words).toEqual(runIn('/bin/sh', framed(withPassword(PASSWORD), ':', NONCE)).words);
    });

    test('sudo with a password runs a script, which gets its input byte by byte as it was, and no password', () => {
      const { words, result } = run(framedWithInput(withPassword(PASSWORD), 'cat; exit 4', NONCE), INPUT);
      expect(readFileSync(at('password'), 'utf8')).toBe(PASSWORD);
      expect(result).toEqual({ stdout: INPUT, stderr: '', status: 4 });
      expect(readdirSync(at('tmp'))).toEqual([]);
      expect(words).toEqual(runIn('/bin/sh', framedWithInput(withPassword(PASSWORD), ':', NONCE)).words);
    });
  });
