import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { program } from '../../src/cli/program.ts';
import { commands } from '../../src/commands/commands.ts';
import type { Command, CommandGroup } from '../../src/session/command.ts';
import { filesIn } from '../tools/files-in.ts';

const folder = new URL('../../src/', import.meta.url);
const sources = filesIn('src', '.ts').map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }));

const all = (list: readonly (Command | CommandGroup)[]): readonly Command[] =>
  list.flatMap((item) =>
    'commands' in item ? [...(item.itself === undefined ? [] : [item.itself]), ...all(item.commands)] : [item],
  );

const flagsOf = (name: string): readonly string[] =>
  all(commands)
    .find((command) => command.name === name)!
    .options.map(({ flags }) => /--[a-z-]+/.exec(flags)![0]);

/** What commander hands over for a command line, without running the command. */
async function valuesOf(...args: readonly string[]): Promise<object> {
  const root = program({ version: '0', done: () => undefined, onLoaded: () => undefined }).configureOutput({
    writeErr: () => undefined,
  });
  const parser = root.commands.find((command) => command.name() === args[0])!.exitOverride();
  let values: object = {};
  parser.action(() => {
    values = parser.opts();
  });
  await root.parseAsync(args, { from: 'user' });
  return values;
}

describe('the commands', () => {
  test('each option is read by the code of some command', () => {
    const code = sources
      .filter(({ name }) => /^(?:cli|commands|session)\/(?!.*\.command\.ts|options\.ts)/.test(name))
      .map(({ text }) => text);
    expect(code.length).toBeGreaterThan(20);
    const keys = new Set(
      program({ version: '0', done: () => undefined, onLoaded: () => undefined })
        .commands.flatMap((command) => [
          command,
          ...command.commands,
          ...command.commands.flatMap((one) => one.commands),
        ])
        .flatMap((command) => command.options.map((option) => option.attributeName())),
    );
    const unread = [...keys].filter((key) => !code.some((text) => new RegExp(`\\b${key}\\b`).test(text)));
    // The library of colours reads --no-color from the command line itself.
    expect(unread.filter((key) => key !== 'color')).toEqual([]);
  });

  test('-v exists only where hosts are contacted, --json only where a command prints a document', () => {
    for (const name of ['init', 'schema'])
      for (const flag of ['--json', '--quiet', '--verbose']) expect(flagsOf(name), name).not.toContain(flag);
    expect(flagsOf('kubeconfig')).not.toContain('--json');
    expect(flagsOf('validate')).not.toContain('--verbose');
    for (const flag of ['--json', '--quiet', '--verbose']) expect(flagsOf('up')).toContain(flag);
    // It keeps no record: there is no cluster yet.
    for (const { name, onHosts } of all(commands).filter(({ name }) => name !== 'init'))
      expect(flagsOf(name).includes('--log-file'), name).toBe(onHosts !== 'nothing');
  });

  test('each has examples that begin with its own name', () => {
    for (const { name, examples } of all(commands)) {
      expect(examples.length, name).toBeGreaterThan(0);
      for (const example of examples) expect(example).toMatch(new RegExp(`^kbuild (?:[a-z]+ )*${name}\\b`));
    }
  });
});

describe('the command line', () => {
  test('joins the lists of a repeated option', async () => {
    expect(await valuesOf('up', '--hosts', 'a,b', '--hosts', 'c')).toMatchObject({ hosts: ['a', 'b', 'c'] });
  });

  test('reads durations and counts, and refuses others with the reason', async () => {
    expect(await valuesOf('remove', 'w1', '--drain-timeout', '90s', '--no-drain', '--concurrency', '3')).toMatchObject({
      drainTimeout: 90_000,
      drain: false,
      concurrency: 3,
    });
    await expect(valuesOf('up', '--timeout', '5')).rejects.toThrow('a duration looks like 90s, 30m or 2h');
    await expect(valuesOf('up', '--concurrency', '0')).rejects.toThrow('at least 1');
    await expect(valuesOf('up', '--hosts', '')).rejects.toThrow('the list is empty');
  });

  test('refuses -v with -q', async () => {
    await expect(valuesOf('up', '-v', '-q')).rejects.toThrow('cannot be used with');
  });
});

test('each kind of event has a sender', () => {
  const kinds = [...sources.find(({ name }) => name === 'engine/event.ts')!.text.matchAll(/kind: '([a-z-]+)'/g)];
  const unsent = kinds
    .map(([, kind]) => kind!)
    .filter(
      (kind) => !sources.some(({ name, text }) => name !== 'engine/event.ts' && text.includes(`kind: '${kind}'`)),
    );
  expect(unsent).toEqual([]);
});

describe('a group whose name alone is a command', () => {
  test('leaves options behind the name of a command to that command', async () => {
    const seen: object[] = [];
    const root = program({ version: '0', done: () => undefined, onLoaded: () => undefined }).configureOutput({
      writeErr: () => undefined,
    });
    const group = root.commands.find((command) => command.name() === 'certs')!;
    group.commands[0]!.action((_, values: object) => void seen.push(values));
    await root.parseAsync(['certs', 'renew', '--all', '-i', 'prod.yaml'], { from: 'user' });
    expect(seen).toMatchObject([{ all: true, inventory: 'prod.yaml' }]);
    expect(group.opts()).not.toHaveProperty('inventory');
  });

  test('refuses options before that name: the command would not see them', async () => {
    const root = program({ version: '0', done: () => undefined, onLoaded: () => undefined }).configureOutput({
      writeErr: () => undefined,
    });
    await expect(root.parseAsync(['certs', '-i', 'prod.yaml', 'renew'], { from: 'user' })).rejects.toThrow(
      'options stand before "renew", and belong behind it',
    );
  });
});
