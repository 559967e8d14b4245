import { open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { commands } from '../../commands/commands.ts';
import { namesIn, type NamesInInventory } from '../../inventory/file/names.ts';
import { type Context, recordFolder } from '../../session/context.ts';
import { answerFor, answerText } from './answer.ts';
import { positionOf } from './position.ts';

/** How a word of a shell's line goes on: outside quotes, or inside of them. */
type Quote = '' | "'" | '"';

/**
 * The words of a line of bash up to the cursor, quotes and backslashes taken away; the last one is under way, and empty
 * after a blank. What a shell would put in the place of `$NAME` or `$(…)` stays as it is: nothing is run.
 */
export function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: Quote = '';
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!;
    if (quote === '' && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (quote === '' && (character === "'" || character === '"')) {
      quote = character;
      word ??= '';
    } else if (character === quote) quote = '';
    else if (character === '\\' && quote !== "'") {
      at += 1;
      word = `${word ?? ''}${line[at] ?? ''}`;
    } else word = `${word ?? ''}${character}`;
  }
  return [...words, word ?? ''];
}

/** A larger inventory takes longer to read than an operator waits for a proposal. In bytes. */
const LIMIT = 1024 * 1024;

const NONE: NamesInInventory = { cluster: undefined, hosts: [], groups: [] };

type Place = Pick<Context, 'env' | 'cwd'>;

/** The text of a small regular file. Never waits for a pipe or a terminal. @throws Error for anything else */
async function smallFile(path: string): Promise<string> {
  const { O_RDONLY, O_NONBLOCK } = (await import('node:fs')).constants;
  const file = await open(path, O_RDONLY | O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > LIMIT) throw new Error('no small file');
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** The path as the shell will hand it over. */
const expanded = (path: string, { env }: Place): string =>
  path.startsWith('~/') && env['HOME'] !== undefined ? join(env['HOME'], path.slice(2)) : path;

async function namesOf(place: Place, given: string | undefined): Promise<NamesInInventory> {
  const file = given ?? place.env['KBUILD_INVENTORY'] ?? 'inventory.yaml';
  try {
    return file === '-' ? NONE : namesIn(await smallFile(resolve(place.cwd, expanded(file, place))));
  } catch {
    return NONE;
  }
}

/** The runs that were recorded, newest first. */
async function recordedRuns(place: Place, cluster: string): Promise<readonly string[]> {
  const { recordsIn } = await import('../../report/record/record-files.ts');
  return recordsIn(recordFolder(place, cluster))
    .map(({ run }) => run)
    .toReversed();
}

/** The words of a line as its shell hands them over; bash hands over the line. */
function wordsFrom(shell: string, given: readonly string[]): readonly string[] {
  if (shell === 'bash') return wordsOf(given[0] ?? '').slice(1);
  // PowerShell drops empty arguments: each has a sign before it.
  return shell === 'powershell' ? given.map((word) => word.slice(1)) : given;
}

/**
 * What can stand at the cursor, for the scripts of shells: `kbuild __complete SHELL WORDS…`. Contacts no host, runs no
 * command of an inventory, and says nothing where it knows nothing: an error would stand in the line that the operator
 * types.
 */
export async function completionAnswer(place: Place, [shell = '', ...given]: readonly string[]): Promise<string> {
  try {
    const words = wordsFrom(shell, given);
    const { inventory } = positionOf(commands, words);
    const answer = await answerFor(commands, words, {
      names: () => namesOf(place, inventory),
      runs: (cluster) => recordedRuns(place, cluster),
    });
    return answerText(answer);
  } catch {
    return '';
  }
}
