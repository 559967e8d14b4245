import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { program } from '../../src/cli/program.ts';

const folder = new URL('../../src/', import.meta.url);
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !/^cli\/(?:flags|program)\.ts$/.test(name))
  .map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }));
const declared = (file: string, pattern: RegExp): readonly string[] =>
  [...readFileSync(new URL(file, folder), 'utf8').matchAll(pattern)].map(([, name]) => name!);

test('every flag is read by some command', () => {
  const commands = sources.filter(({ name }) => name.startsWith('cli/'));
  const unread = declared('cli/flags.ts', /^ {2}readonly (\w+)\?:/gm).filter(
    (flag) =>
      !commands.some(({ text }) => new RegExp(`\\bflags\\.${flag}\\b|\\b${flag}\\b[^{}]*\\} = flags`).test(text)),
  );
  expect(unread.filter((flag) => flag !== 'inventory')).toEqual([]);
});

test('every event has a sender', () => {
  const unsent = declared('engine/event.ts', /kind: '([a-z-]+)'/g).filter(
    (kind) => !sources.some(({ name, text }) => name !== 'engine/event.ts' && text.includes(`kind: '${kind}'`)),
  );
  expect(unsent).toEqual([]);
});

test('a command has no flag without a meaning: -v only where hosts are touched, --json only where there is a document', () => {
  const root = program('0', () => undefined);
  const flagsOf = (name: string) => root.commands.find((one) => one.name() === name)!.options.map(({ long }) => long);
  for (const name of ['init', 'schema'])
    for (const flag of ['--json', '--quiet', '--verbose']) expect(flagsOf(name), name).not.toContain(flag);
  expect(flagsOf('kubeconfig')).not.toContain('--json');
  expect(flagsOf('validate')).not.toContain('--verbose');
  for (const flag of ['--json', '--quiet', '--verbose']) expect(flagsOf('up')).toContain(flag);
});
