import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerFor, answerText } from '../../../src/cli/completion/answer.ts';
import { completionAnswer, wordsOf } from '../../../src/cli/completion/run-complete.ts';
import { commands } from '../../../src/commands/commands.ts';
import { runCompletion } from '../../../src/commands/completion.ts';
import { SHELLS } from '../../../src/commands/tools.command.ts';
import { UsageError } from '../../../src/errors.ts';
import { namesIn, type NamesInInventory } from '../../../src/inventory/file/names.ts';
import { powershellParser, problemsOf } from '../../windows/grammar.ts';
import { quietContext } from '../../commands/quiet-context.ts';

const NAMES: NamesInInventory = {
  cluster: 'prod',
  hosts: [
    { name: 'cp1', role: 'control-plane' },
    { name: 'w1', role: 'worker' },
    { name: 'w2', role: 'worker' },
  ],
  groups: ['gpu'],
};

const answer = (...words: readonly string[]) =>
  answerFor(commands, words, {
    names: () => Promise.resolve(NAMES),
    runs: (cluster) => Promise.resolve([`${cluster}-2`, `${cluster}-1`]),
  });

const values = async (...words: readonly string[]): Promise<readonly string[]> =>
  (await answer(...words)).candidates.map(({ value }) => value);

describe('what stands at the cursor', () => {
  test.each([
    [[''], expect.arrayContaining(['up', 'etcd', 'explain', 'completion'])],
    [['teardown', '--yes-d'], ['--yes-destroy']],
    [
      ['etcd', 'snapshot', ''],
      ['save', 'restore'],
    ],
    [['etcd', 'nonsense', ''], []],
    [['nonsense', ''], []],
    [
      ['up', '--hosts', ''],
      ['cp1', 'w1', 'w2', 'gpu'],
    ],
    [
      ['up', '--hosts', 'w1,'],
      ['w1,cp1', 'w1,w2', 'w1,gpu'],
    ],
    [['up', '--hosts', 'w1,w'], ['w1,w2']],
    [['up', '--hosts=w1,w'], ['--hosts=w1,w2']],
    [['up', '--dead', 'g'], []],
    [['up', '--os', ''], []],
    [
      ['windows', 'selftest', '--os', ''],
      ['windows', 'linux'],
    ],
    [
      ['remove', 'w1', ''],
      ['cp1', 'w2'],
    ],
    [
      ['remove', '--', 'w'],
      ['w1', 'w2'],
    ],
    [['remove', '--', '-'], []],
    [
      ['certs', 'renew', 'apiserver', 'apis'],
      ['apiserver-kubelet-client', 'apiserver-etcd-client'],
    ],
    [
      ['explain', 'exit', '1'],
      ['1', '10', '130'],
    ],
    [['explain', 'exit', '7', ''], []],
    [['explain', 'hosts.la'], ['hosts.labels']],
    [['completion', ''], [...SHELLS]],
    [['completion', 'bash', ''], []],
    [['up', '--yes', '--ye'], []],
    [['up', '--hosts', 'w1', '--host'], ['--hosts']],
  ])('%j: %j', async (words, expected) => {
    expect(await values(...words)).toEqual(expected);
  });

  test('a value that is a file is left to the shell, and so is an inventory', async () => {
    for (const words of [
      ['up', '-i', 'x'],
      ['up', '--kubeconfig', ''],
      ['validate', ''],
      ['up', '--log-file=a'],
    ])
      expect(await answer(...words)).toMatchObject({ candidates: [], then: 'files' });
    expect(await answer('certs', '')).toMatchObject({
      then: 'files',
      candidates: [{ value: 'renew' }, { value: 'recover' }, { value: 'renew-ca' }, { value: 'rotate-ca' }],
    });
    expect(await answer('up', 'inventory.yaml', '')).toMatchObject({ candidates: [], then: 'done' });
  });

  test('a list goes on, another value ends', async () => {
    expect((await answer('up', '--phase', 'run')).then).toBe('open');
    expect((await answer('completion', 'b')).then).toBe('done');
  });

  test('every value that an option proposes is what a shell takes as it is', async () => {
    for (const [option, least] of [
      ['--phase', 30],
      ['--ignore-check', 70],
    ] as const)
      expect((await values('up', option, '')).length).toBeGreaterThan(least);
    const topics = await values('explain', '');
    expect(topics.length).toBeGreaterThan(250);
    expect(topics.filter((topic) => /[^A-Za-z0-9.-]/.test(topic))).toEqual([]);
  });

  test('names that a shell would not take as they are stay out, and notes are one short line without control characters', async () => {
    const hosts = [
      { name: '$(touch x)', role: 'worker' },
      { name: 'w1', role: `a\tb\n\u001b[31m\u202e${'x'.repeat(200)}` },
    ];
    const names = (): Promise<NamesInInventory> => Promise.resolve({ cluster: undefined, hosts, groups: ['a b'] });
    const found = await answerFor(commands, ['up', '--hosts', ''], { names, runs: () => Promise.resolve([]) });
    expect(answerText(found)).toBe(`open\t\nw1\ta b [31m ${'x'.repeat(70)}…\n`);
  });
});

describe('names of an inventory', () => {
  test('are read from one that is half written', () => {
    expect(namesIn('name: prod\nhosts: [{ name: w1, role: worker }, { name: w2')).toEqual({
      cluster: 'prod',
      hosts: [
        { name: 'w1', role: 'worker' },
        { name: 'w2', role: '' },
      ],
      groups: [],
    });
  });

  test.each(['', '[]', '7', 'hosts: 7', 'hosts: [7, null, [], { name: 7 }]', 'groups: [a]', 'hosts: { a: b }'])(
    '%s has none',
    (text) => expect(namesIn(text)).toMatchObject({ hosts: [] }),
  );

  test.each([
    '$(x)',
    '`x`',
    'a b',
    'a;b',
    "a'b",
    'a"b',
    'a\nb',
    '--yes',
    '-',
    '',
    'a*',
    'ä',
    '\u001b[31m',
    'a'.repeat(64),
  ])('%j is no name', (name) => {
    const quoted = JSON.stringify(name);
    expect(namesIn(`name: ${quoted}\nhosts: [{ name: ${quoted} }]\ngroups: { ${quoted}: {} }`)).toEqual({
      cluster: undefined,
      hosts: [],
      groups: [],
    });
  });
});

test.each([
  ['kbuild up --hosts a,b', ['kbuild', 'up', '--hosts', 'a,b']],
  ['kbuild up ', ['kbuild', 'up', '']],
  [String.raw`kbuild -i a\ b 'c d' "e \"f" g`, ['kbuild', '-i', 'a b', 'c d', 'e "f', 'g']],
  [`kbuild 'under way`, ['kbuild', 'under way']],
  [`kbuild ''`, ['kbuild', '']],
  ['kbuild $(touch x) `y`', ['kbuild', '$(touch', 'x)', '`y`']],
  ['kbuild \\', ['kbuild', '']],
  ['', ['']],
])('the words of %j', (line, words) => expect(wordsOf(line)).toEqual(words));

describe('what a shell gets', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'kbuild-complete-'));
    writeFileSync(join(folder, 'inventory.yaml'), 'name: prod\nhosts: [{ name: here }]\n');
    writeFileSync(join(folder, 'prod.yaml'), 'hosts: [{ name: there }]\n');
    writeFileSync(join(folder, 'huge.yaml'), `hosts: [{ name: far }]\n${'#'.repeat(1_100_000)}`);
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    mkdirSync(join(folder, 'state/kbuild/prod/runs'), { recursive: true });
    for (const name of [
      '20260101t000000z-0a1b2c3d-up.ndjson',
      '20270101t000000z-1a1b2c3d-etcd-recover.ndjson',
      'up.ndjson',
    ])
      writeFileSync(join(folder, 'state/kbuild/prod/runs', name), '');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const ask = (env: Readonly<Record<string, string>>, ...words: readonly string[]): Promise<string> =>
    completionAnswer({ env: { HOME: folder, ...env }, cwd: folder }, words);

  test('the inventory that the words name, else of the environment, else of the folder', async () => {
    expect(await ask({}, 'zsh', 'remove', '')).toBe('done\t\nhere\t\n');
    expect(await ask({}, 'zsh', 'remove', '-i', 'prod.yaml', '')).toBe('done\t\nthere\t\n');
    expect(await ask({}, 'zsh', 'remove', '--inventory=~/prod.yaml', '')).toBe('done\t\nthere\t\n');
    expect(await ask({ KBUILD_INVENTORY: 'prod.yaml' }, 'zsh', 'remove', '')).toBe('done\t\nthere\t\n');
    expect(await ask({}, 'zsh', 'up', 'prod.yaml', '--dead', '')).toBe('open\t\nthere\t\n');
    expect(await ask({}, 'bash', 'kbuild up --dead ')).toBe('open\t\nhere\t\n');
    expect(await ask({}, 'powershell', '=remove', '=')).toBe('done\t\nhere\t\n');
  });

  test('the runs that have a record, the newest first', async () => {
    const place = { XDG_STATE_HOME: join(folder, 'state') };
    expect(await ask(place, 'zsh', 'report', '')).toBe(
      'done\t\n20270101t000000z-1a1b2c3d\t\n20260101t000000z-0a1b2c3d\t\n',
    );
  });

  test.each(['missing.yaml', '.', 'pipe', 'huge.yaml', '/dev/zero', '-', ''])(
    '%j has no names, and no error',
    async (file) => {
      expect(await ask({}, 'zsh', 'remove', '-i', file, '')).toBe('done\t\n');
    },
  );

  test('no words, and unknown words, are no error', async () => {
    expect(await ask({})).toMatch(/^done\t\ninit\t/);
    expect(await ask({}, 'zsh', '--nonsense', '\u0000', '=')).toBe('done\t=\n');
  });
});

describe('kbuild completion', () => {
  test.each(SHELLS)('%s has a script that asks kbuild', async (shell) => {
    const { context, out } = quietContext();
    expect(await runCompletion(context, {}, [shell])).toBe(0);
    expect(out()).toContain(`kbuild __complete ${shell}`);
  });

  test('another shell is refused', () => {
    expect(() => runCompletion(quietContext().context, {}, ['bsh'])).toThrow(UsageError);
    expect(() => runCompletion(quietContext().context, {}, ['bsh'])).toThrow('did you mean "bash"');
  });

  // There is no PowerShell in Debian: its script was never run.
  test('the script for PowerShell is what its grammar knows, in ASCII, without what 5.1 lacks', async () => {
    const { context, out } = quietContext();
    await runCompletion(context, {}, ['powershell']);
    expect(problemsOf((await powershellParser())(out()))).toEqual([]);
    expect(out()).toMatch(/^[\n\u0020-\u007e]*$/);
    expect(out()).not.toMatch(/&&|\|\||\?\?|\?\.|-Parallel/);
  });
});
