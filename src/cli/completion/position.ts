import { type Command, type CommandGroup, type Declaration, isInventoryOperand } from '../../session/command.ts';
import { type Candidates, filledList, list, type Option } from '../../session/options.ts';

/** What can stand where the cursor is. */
type Asked =
  | {
      readonly kind: 'commands';
      readonly of: readonly (Command | CommandGroup)[];
      readonly operand: Candidates | undefined;
    }
  | { readonly kind: 'options'; readonly options: readonly Option[] }
  /** A value; `before` stands in the same word before it, `chosen` in the same list. */
  | {
      readonly kind: 'value';
      readonly from: Candidates | undefined;
      readonly before: string;
      readonly chosen: readonly string[];
      readonly isList: boolean;
    };

/** Where the cursor is. */
export interface Position {
  readonly asked: Asked;
  /** The inventory that the words name. */
  readonly inventory: string | undefined;
  /** Operands before the cursor. */
  readonly operands: readonly string[];
}

const takesValue = ({ flags }: Option): boolean => flags.includes('<');

const namesOf = ({ flags }: Option): readonly string[] => flags.split(/[\s,]+/).filter((word) => word.startsWith('-'));

const isListOf = ({ parse }: Option): boolean => parse === filledList || parse === list;

/** What a value can be: as declared, else a file where the option takes one. */
const candidatesOf = ({ completes, flags }: Option): Candidates | undefined =>
  completes ?? (/<(?:file|path)>/.test(flags) ? 'files' : undefined);

/** The option with this name on the command line. */
const named = (options: readonly Option[], word: string): Option | undefined =>
  options.find((option) => namesOf(option).includes(word));

/** A value under way. Of a list, the last item is. */
function valueAsked(option: Option, text: string, prefix: string): Asked {
  const from = candidatesOf(option);
  if (!isListOf(option)) return { kind: 'value', from, before: prefix, chosen: [], isList: false };
  const end = text.lastIndexOf(',') + 1;
  const before = text.slice(0, end);
  return { kind: 'value', from, before: `${prefix}${before}`, chosen: before.split(','), isList: true };
}

/** The options, operands and inventory among words that are complete. */
interface Taken {
  readonly used: readonly Option[];
  readonly operands: readonly string[];
  readonly inventory: string | undefined;
  /** The option whose value comes next. */
  readonly open: Option | undefined;
  readonly onlyOperands: boolean;
}

function taken(options: readonly Option[], words: readonly string[]): Taken {
  const used: Option[] = [];
  const operands: string[] = [];
  let inventory: string | undefined;
  let open: Option | undefined;
  let onlyOperands = false;
  for (const word of words) {
    if (open !== undefined) {
      if (namesOf(open).includes('--inventory')) inventory = word;
      open = undefined;
    } else if (onlyOperands || !word.startsWith('-') || word === '-') operands.push(word);
    else if (word === '--') onlyOperands = true;
    else {
      const [, name = word, value] = /^(--[^=]+)=(.*)$/s.exec(word) ?? [];
      const option = named(options, name);
      if (option !== undefined) used.push(option);
      if (name === '--inventory' && value !== undefined) inventory = value;
      if (option !== undefined && value === undefined && takesValue(option)) open = option;
    }
  }
  return { used, operands, inventory, open, onlyOperands };
}

/** The command that the words name, the commands that can follow, and the words behind its name. */
function found(
  all: readonly (Command | CommandGroup)[],
  words: readonly string[],
): {
  readonly declaration: Declaration | undefined;
  readonly next: readonly (Command | CommandGroup)[];
  readonly rest: readonly string[];
} {
  const [first, ...rest] = words;
  const item = all.find((one) => one.name === first || ('alias' in one && one.alias === first));
  if (item === undefined) return { declaration: undefined, next: words.length === 0 ? all : [], rest: words };
  if (!('commands' in item)) return { declaration: item, next: [], rest };
  const inner = found(item.commands, rest);
  return inner.declaration !== undefined || item.itself === undefined
    ? inner
    : { declaration: item.itself, next: inner.next, rest };
}

/** What is asked for at the last of the words, which is under way; `all`: the commands of the program. Pure. */
export function positionOf(all: readonly (Command | CommandGroup)[], words: readonly string[]): Position {
  const current = words.at(-1) ?? '';
  const { declaration, next, rest } = found(all, words.slice(0, -1));
  const options = declaration?.options ?? [];
  const { used, operands, inventory, open, onlyOperands } = taken(options, rest);
  const operand = declaration?.operand;
  const place = {
    inventory: inventory ?? (isInventoryOperand(operand) ? operands[0] : undefined),
    operands,
  };
  if (open !== undefined) return { ...place, asked: valueAsked(open, current, '') };
  if (!onlyOperands && current.startsWith('-')) {
    const [, name, value = ''] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
    const option = name === undefined ? undefined : named(options, name);
    if (option !== undefined) return { ...place, asked: valueAsked(option, value, `${name!}=`) };
    const left = options.filter((one) => !used.includes(one) || isListOf(one));
    return { ...place, asked: { kind: 'options', options: left } };
  }
  const isFull = operands.length > 0 && operand?.name.includes('...') === false;
  return {
    ...place,
    asked: {
      kind: 'commands',
      of: operands.length === 0 ? next : [],
      operand: isFull ? undefined : operand?.completes,
    },
  };
}
