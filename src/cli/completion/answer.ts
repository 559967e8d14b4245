import type { NamesInInventory } from '../../inventory/file/names.ts';
import type { Command, CommandGroup } from '../../session/command.ts';
import type { Candidates, Option } from '../../session/options.ts';
import { type Position, positionOf } from './position.ts';

/** Something that can stand at the cursor, and what the shell shows beside it. */
interface Candidate {
  readonly value: string;
  readonly note: string;
}

/** What candidates are read from. Nothing of it connects, runs a command, or throws. */
interface CandidateSources {
  /** The names of the inventory; none where it cannot be read. */
  readonly names: () => Promise<NamesInInventory>;
  /** The runs of a cluster that can be reported, newest first. */
  readonly runs: (cluster: string) => Promise<readonly string[]>;
}

const plain = (values: readonly string[]): readonly Candidate[] => values.map((value) => ({ value, note: '' }));

const hosts = ({ hosts: list }: NamesInInventory): readonly Candidate[] =>
  list.map(({ name, role }) => ({ value: name, note: role }));

const checkNames = async (): Promise<readonly Candidate[]> => {
  const { checks } = await import('../../commands/every.checks.ts');
  return checks.map(({ name, title }) => ({ value: name, note: title }));
};

/** Topics of `explain`: paths without brackets, which shells would take for patterns. */
async function topics(operands: readonly string[]): Promise<readonly Candidate[]> {
  const [first] = operands;
  if (first === 'check') return operands.length === 1 ? checkNames() : [];
  if (first === 'refusal') {
    const { refusals } = await import('../../refusals/refusals.ts');
    return operands.length === 1 ? refusals.map(({ name, title }) => ({ value: name, note: title })) : [];
  }
  if (first === 'exit') {
    const { EXIT_CODES } = await import('../../exit-codes.ts');
    return operands.length === 1 ? EXIT_CODES.map(({ code, title }) => ({ value: String(code), note: title })) : [];
  }
  if (first !== undefined) return [];
  const { inventorySettings, withInner } = await import('../../inventory/file/settings.ts');
  const settings = withInner(inventorySettings()).slice(1);
  return [
    { value: 'check', note: 'a preflight check' },
    { value: 'refusal', note: 'a reason of exit 7' },
    { value: 'exit', note: 'an exit code' },
    ...settings.map(({ path, meaning }) => ({ value: path.replaceAll('[]', ''), note: meaning })),
  ];
}

/** What can stand where these candidates are asked for; `files` are the shell's to find. */
async function candidatesFor(
  from: Exclude<Candidates, 'files'>,
  { operands }: Pick<Position, 'operands'>,
  { names, runs }: CandidateSources,
): Promise<readonly Candidate[]> {
  switch (from) {
    case 'hosts':
      return hosts(await names());
    case 'hosts and groups': {
      const found = await names();
      return [...hosts(found), ...found.groups.map((value) => ({ value, note: 'group' }))];
    }
    case 'phases':
      return plain((await import('../../session/command.ts')).UP_PHASES);
    case 'checks':
      return checkNames();
    case 'certificates':
      return plain((await import('../../certificates/authorities.value.ts')).RENEWED_NAMES);
    case 'documents':
      return plain(Object.keys((await import('../../report/documents/documents.ts')).DOCUMENTS));
    case 'topics':
      return topics(operands);
    case 'runs': {
      const { cluster } = await names();
      return cluster === undefined ? [] : plain(await runs(cluster));
    }
    default:
      return plain(from);
  }
}

/** What a shell gets. */
interface Answer {
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

/**
 * An answer as the scripts of shells read it: what follows and the word under way, then a candidate and its note a
 * line.
 */
export const answerText = ({ current, candidates, then }: Answer): string =>
  [`${then}\t${current}`, ...candidates.map(({ value, note }) => `${value}\t${note}`), ''].join('\n');
