import type { Command, CommandGroup } from '../command.ts';
import type { Option } from '../option.ts';
import { candidatesFor, type Candidate, type CandidateSources } from './candidates.ts';
import { positionOf, type Position } from './position.ts';

/** What a shell gets. */
export interface Answer {
  /** The word under way, as kbuild reads it. */
  readonly current: string;
  readonly candidates: readonly Candidate[];
  /** `files`: the shell proposes files. `open`: the word goes on, so no blank follows. */
  readonly then: 'files' | 'open' | 'done';
}

/** Characters that mean themselves in every shell: nothing that is proposed needs quotes. */
const SAFE = /^[A-Za-z0-9_.,:=@%+/-]+$/;

/** Notes are one short line without what steers a terminal. */
const shortNote = (note: string): string => {
  const line = note.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
};

const optionsOf = (options: readonly Option[]): readonly Candidate[] => [
  ...options.map(({ flags, summary }) => ({ value: /--[a-z-]+/.exec(flags)![0], note: summary })),
  { value: '--help', note: 'display help for command' },
];

async function proposed(
  { asked, operands }: Position,
  sources: CandidateSources,
): Promise<Pick<Answer, 'candidates' | 'then'>> {
  if (asked.kind === 'options') return { candidates: optionsOf(asked.options), then: 'done' };
  if (asked.kind === 'commands') {
    const commands = asked.of.map(({ name, summary }) => ({ value: name, note: summary }));
    const { operand } = asked;
    if (operand === undefined) return { candidates: commands, then: 'done' };
    if (operand === 'files') return { candidates: commands, then: 'files' };
    const taken = new Set(operands);
    const others = (await candidatesFor(operand, { operands }, sources)).filter(({ value }) => !taken.has(value));
    return { candidates: [...commands, ...others], then: 'done' };
  }
  const { from, before, chosen, isList } = asked;
  if (from === undefined) return { candidates: [], then: 'done' };
  if (from === 'files') return { candidates: [], then: 'files' };
  const all = await candidatesFor(from, { operands }, sources);
  return {
    candidates: all
      .filter(({ value }) => !chosen.includes(value))
      .map(({ value, note }) => ({ value: `${before}${value}`, note })),
    then: isList ? 'open' : 'done',
  };
}

/** What can stand at the last of the words, which is under way. */
export async function answerFor(
  commands: readonly (Command | CommandGroup)[],
  words: readonly string[],
  sources: CandidateSources,
): Promise<Answer> {
  const current = words.at(-1) ?? '';
  const { candidates, then } = await proposed(positionOf(commands, words), sources);
  return {
    current,
    candidates: candidates
      .filter(({ value }) => value.startsWith(current) && SAFE.test(value))
      .map(({ value, note }) => ({ value, note: shortNote(note) })),
    then,
  };
}

/** An answer as the scripts of shells read it: what follows and the word under way, then a candidate and its note a line. */
export const answerText = ({ current, candidates, then }: Answer): string =>
  [`${then}\t${current}`, ...candidates.map(({ value, note }) => `${value}\t${note}`), ''].join('\n');
