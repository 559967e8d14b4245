/** The terminal session of the documentation: recorded by the lab, drawn as pictures, quoted by pages. */
import { readFileSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { commandsOf, exitCode, readCast, wordsOf } from '../tools/terminal-recording.ts';
import { filesIn } from '../tools/files-in.ts';
import { SESSION, shotFile, shots } from '../tools/terminal-shots.ts';

const cast = readFileSync(SESSION, 'utf8');
const commands = await commandsOf(readCast(cast));
/** Figures, times and blanks aside, which differ from cluster to cluster. */
const shape = (text: string): string =>
  text
    .replaceAll(/\d+ min \d+ s|\d+ s\b/g, 'TIME')
    .replaceAll(/\d+/g, 'N')
    .replaceAll(/\s+/g, ' ')
    .trim();
/** The lines of a page's terminal blocks that are neither typed nor cut. */
const quotedIn = (text: string): readonly string[] =>
  [...text.matchAll(/^```console\n([^]*?)^```$/gm)]
    .flatMap(([, block]) => block!.split('\n'))
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('$ ') && line !== '…');
const page = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

describe('the recorded session', () => {
  test('goes from the release file to a cluster, and each command of it went well', () => {
    expect(commands.map(({ command }) => command.split(' ').slice(0, 2).join(' '))).toEqual([
      ...['apt install', 'kbuild --version', 'kbuild init', 'kbuild validate', 'kbuild check', 'kbuild plan'],
      ...['kbuild up', 'KUBECONFIG=prod.kubeconfig kubectl', 'kbuild status'],
    ]);
    expect(commands.map(({ code }) => code)).toEqual(commands.map(() => 0));
    expect(commands.find(({ command }) => command === 'kbuild up')!.lines.join('\n')).toMatch(
      /^done: \d+ changes on 2 hosts/m,
    );
  });

  test('is small, and holds no secret', () => {
    expect(statSync(SESSION).size).toBeLessThan(400_000);
    expect(cast).not.toMatch(/PRIVATE KEY|\b[a-z0-9]{6}\.[a-z0-9]{16}\b|\beyJ[\w-]{10,}\./);
  });

  test('has no word that kbuild does not say any more (else: run test/lab/long/release.test.ts with KBUILD_RECORDS_TO)', () => {
    const source = ['src', 'templates']
      .flatMap((folder) => filesIn(folder, '').map((name) => `${folder}/${name}`))
      .filter((name) => /\.\w+$/.test(name))
      .map(page)
      .join('\n')
      .toLowerCase();
    const said = commands.filter(({ command }) => /^kbuild (?:init|validate|check|plan)/.test(command));
    const NAMES = /^(?:relcp|relw|prod|debian|linux|gnu|bookworm|inventory|yaml)/;
    const gone = said
      .flatMap(wordsOf)
      .filter((word) => !NAMES.test(word.toLowerCase()) && !source.includes(word.toLowerCase()));
    expect(gone).toEqual([]);
  });

  test('the lines of pages that quote it stand in it', () => {
    const lines = new Set(commands.flatMap(({ lines: all }) => all.map((line) => line.trim())));
    const quoted = quotedIn(page('docs/getting-started.md'));
    expect(quoted.length).toBeGreaterThan(20);
    expect(quoted.filter((line) => !lines.has(line))).toEqual([]);
  });

  test('kbuild says what README has it say, but for figures, and its commands are typed in it', () => {
    const readme = page('README.md');
    const said = shape(commands.flatMap(({ lines }) => lines).join(' '));
    const quoted = quotedIn(readme);
    expect(quoted.length).toBeGreaterThan(2);
    expect(quoted.filter((line) => !said.includes(shape(line)))).toEqual([]);
    const typed = [...readme.matchAll(/^\$ (.*)$/gm)].map(([, command]) => command!);
    expect(typed.filter((one) => !commands.some(({ command }) => command === one))).toEqual([]);
  });
});

test('the pictures are drawn from the session (else: npm run docs:terminal)', async () => {
  const drawn = await shots();
  expect([...drawn.keys()].toSorted()).toEqual(filesIn('docs/terminal', '.svg'));
  for (const [name, text] of drawn) expect(readFileSync(shotFile(name), 'utf8'), name).toBe(text);
});

test('a prompt tells the exit code of the command before it', () => {
  expect(exitCode('…\r\n\u001B]2;exit 3\u0007$ ')).toBe(3);
  expect(exitCode('$ kbuild up\r\n')).toBeUndefined();
  expect(exitCode('\u001B]2;exit 0\u0007$ kbuild')).toBeUndefined();
});
