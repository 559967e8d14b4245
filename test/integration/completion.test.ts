// @module-tag linux
// @module-tag script
/** Completion in real shells on a terminal: a line and TAB are typed, and the words are what the shell then hands to a program. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onTerminal, type OnTerminal } from '../lab/pseudo-terminal.ts';
import { waitUntil } from '../lab/wait-until.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const DEADLINE_MS = 60_000;
const PROMPT = 'READY>';
/** Ctrl-U. */
const CLEAR_LINE = '\u0015';
const ESCAPES = /\u001b(?:\[[\d;?>]*[a-zA-Z]|\([A-Z])/g;

let folder: string;

const at = (...path: readonly string[]): string => join(folder, ...path);

const INVENTORY = `name: prod
kubernetes: { version: "1.36.3" }
ssh: { sudoPassword: "command:touch ran-a-secret" }
hooks: { beforeChange: [{ command: touch ran-a-hook }] }
groups: { gpu: {} }
hosts:
  - { name: cp1, address: 10.0.0.11, role: control-plane }
  - { name: w-one, address: 10.0.0.21, role: worker, groups: [gpu] }
`;

const OTHER = 'hosts: [{ name: far-host, address: 10.0.0.31, role: worker }]\n';

/** Names that would do harm in a shell that takes them as they are, and an honest one. */
const HOSTILE = `hosts:
  - { name: "$(touch ran)" }
  - { name: "x\`touch ran\`" }
  - { name: "x;touch ran" }
  - { name: "x'touch ran" }
  - { name: "x\\"\\ntouch ran" }
  - { name: "x\\e]0;title\\a\\e[31m" }
  - { name: "x-ok", role: "$(touch ran)" }
  - { name: "x y" }
  - { name: "--yes" }
groups: { "x(touch ran)": {}, "x|touch ran": {} }
`;

/** A kbuild that answers shells, and writes down the words of every other command line. */
const RECORDER = `#!/bin/sh
case "$1" in
  __complete | completion) exec ${JSON.stringify(process.execPath)} ${JSON.stringify(PROGRAM)} "$@" ;;
esac
{ printf '%s\\n' "$@"; echo '--end--'; } >>"$HOME/words"
`;

const SHELLS = {
  bash: {
    program: ['bash', '--norc', '--noprofile', '-i'],
    start: `PS1='${PROMPT} '; bind 'set bell-style none'; eval "$(kbuild completion bash)"`,
    shows: /cp1\s+w-one/,
  },
  // With -u, a script that reads what is not set would print an error.
  'bash -u': {
    program: ['bash', '--norc', '--noprofile', '-i'],
    start: `set -u; COMP_WORDBREAKS=\${COMP_WORDBREAKS//=/}; PS1='${PROMPT} '; eval "$(kbuild completion bash)"`,
    shows: /cp1\s+w-one/,
  },
  zsh: {
    program: ['zsh', '-d', '-f', '-i'],
    start: `PS1='${PROMPT} '; unsetopt beep; autoload -Uz compinit; compinit -u -D; eval "$(kbuild completion zsh)"`,
    shows: /cp1 +-- control-plane\s+w-one +-- worker/,
  },
  fish: {
    program: ['fish', '--no-config', '-i'],
    start: `function fish_prompt; echo '${PROMPT} '; end; kbuild completion fish | source`,
    shows: /cp1 +\(control-plane\) +w-one +\(worker\)/,
  },
} as const;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-completion-'));
  mkdirSync(at('bin'));
  writeFileSync(at('bin/kbuild'), RECORDER);
  chmodSync(at('bin/kbuild'), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Command lines that shells were made to run, each as its words. */
const recorded = (home: string): readonly (readonly string[])[] => {
  const text = existsSync(join(home, 'words')) ? readFileSync(join(home, 'words'), 'utf8') : '';
  return text
    .split('--end--\n')
    .slice(0, -1)
    .map((words) => words.split('\n').slice(0, -1));
};

/** A shell in a folder of its own that has completion. */
async function started(name: keyof typeof SHELLS): Promise<{ readonly shell: OnTerminal; readonly home: string }> {
  const home = at(name.replace(' ', ''));
  mkdirSync(home);
  writeFileSync(join(home, 'inventory.yaml'), INVENTORY);
  writeFileSync(join(home, 'other inventory.yaml'), OTHER);
  writeFileSync(join(home, 'hostile.yaml'), HOSTILE);
  writeFileSync(join(home, 'half.yaml'), 'hosts: [{ name: w1');
  writeFileSync(join(home, 'no-yaml'), '}: - [\u0000 &a *a\n'.repeat(50));
  const env = { HOME: home, PATH: `${at('bin')}:${process.env['PATH'] ?? ''}`, LC_ALL: 'C.UTF-8' };
  const { program, start } = SHELLS[name];
  const shell = onTerminal(['env', '-C', home, ...program], env, { columns: 200, rows: 50 });
  shell.type(`${start}; touch is-ready\r`);
  await waitUntil(`${name} to be ready`, DEADLINE_MS, () => existsSync(join(home, 'is-ready')));
  return { shell, home };
}

/** What is typed before TAB, and the words that the program gets after TAB and Enter. */
const CASES: readonly (readonly [typed: string, words: readonly string[]])[] = [
  ['kbuild stat', ['status']],
  ['kbuild etcd snap', ['etcd', 'snapshot']],
  ['kbuild up --detailed', ['up', '--detailed']],
  ['kbuild plan --detailed', ['plan', '--detailed-exitcode']],
  ['kbuild up --hosts w', ['up', '--hosts', 'w-one']],
  ['kbuild up --hosts cp1,w', ['up', '--hosts', 'cp1,w-one']],
  ['kbuild up --hosts=gp', ['up', '--hosts=gpu']],
  ['kbuild up --hosts=cp1,gp', ['up', '--hosts=cp1,gpu']],
  ['kbuild up --phase runtime,netw', ['up', '--phase', 'runtime,network']],
  ['kbuild check --ignore-check clock', ['check', '--ignore-check', 'clock-skew']],
  ['kbuild certs renew etcd-p', ['certs', 'renew', 'etcd-peer']],
  ['kbuild explain network.podS', ['explain', 'network.podSubnet']],
  ['kbuild explain check overlay-m', ['explain', 'check', 'overlay-mount']],
  [String.raw`kbuild remove -i other\ inventory.yaml far`, ['remove', '-i', 'other inventory.yaml', 'far-host']],
  ["kbuild remove -i 'other inventory.yaml' far", ['remove', '-i', 'other inventory.yaml', 'far-host']],
  ['kbuild validate oth', ['validate', 'other inventory.yaml']],
  ['kbuild up -i oth', ['up', '-i', 'other inventory.yaml']],
  ['kbuild remove -i hostile.yaml x', ['remove', '-i', 'hostile.yaml', 'x-ok']],
  // Its author is about to write it.
  ['kbuild remove -i half.yaml w', ['remove', '-i', 'half.yaml', 'w1']],
  ['kbuild remove -i no-yaml w', ['remove', '-i', 'no-yaml', 'w']],
  ['kbuild remove -i /dev/zero w', ['remove', '-i', '/dev/zero', 'w']],
  ['kbuild remove -i "$(touch ran)" w', ['remove', '-i', '', 'w']],
];

/** What breaks words matters to lists and to `=` alone. */
const casesOf = (name: keyof typeof SHELLS): typeof CASES =>
  name === 'bash -u' ? CASES.filter(([typed]) => typed.includes('=') || typed.includes(',')) : CASES;

for (const name of Object.keys(SHELLS) as (keyof typeof SHELLS)[])
  describe(name, { tags: [SHELLS[name].program[0]] }, () => {
    test('completes commands, options, lists, names of the inventory and files, each as the shell must quote it', async () => {
      const { shell, home } = await started(name);
      const got: (readonly string[])[] = [];
      for (const [typed, words] of casesOf(name)) {
        // The shell runs the last line itself when Enter comes, and must not before.
        if (typed.includes('touch')) expect(existsSync(join(home, 'ran'))).toBe(false);
        shell.type(`${typed}\t\r`);
        await waitUntil(`the end of ${typed}`, DEADLINE_MS, () => recorded(home).length > got.length).catch(
          (error: unknown) => {
            throw new Error(shell.shown().slice(-600), { cause: error });
          },
        );
        got.push(recorded(home).at(-1)!);
        expect(got.at(-1), shell.shown().slice(-400)).toEqual(words);
      }
      expect(existsSync(join(home, 'ran-a-secret')) || existsSync(join(home, 'ran-a-hook'))).toBe(false);
      expect(shell.shown()).not.toMatch(/error|unbound|not found|at .*\.js:\d/i);

      // Several candidates are shown, with what they are where the shell shows that.
      const before = shell.shown().length;
      shell.type('kbuild up --dead \t\t');
      await waitUntil(`the hosts, in ${shell.shown().slice(before)}`, DEADLINE_MS, () =>
        SHELLS[name].shows.test(shell.shown().slice(before).replaceAll(ESCAPES, '')),
      );
      shell.type(`${CLEAR_LINE}exit\r`);
      await shell.ended;
    }, 300_000);
  });
