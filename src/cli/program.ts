import { existsSync } from 'node:fs';
import { Command as Parser, CommanderError, InvalidArgumentError, Option as ParserOption } from 'commander';
import { commands } from '../commands/commands.ts';
import { UsageError } from '../errors.ts';
import { type Command, type CommandGroup, isInventoryOperand } from '../session/command.ts';
import { processContext, proseTo } from '../session/context.ts';
import type { Option } from '../session/options.ts';
import { nearest } from '../shell/text.ts';
import { commandLineError, ended } from './command-line-error.ts';

const examples = (lines: readonly string[]): string => `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`;

/** commander's form of an option. A list that is given twice is joined. */
function parserOption({ flags, summary, parse, conflicts }: Option): ParserOption {
  const made = new ParserOption(flags, summary);
  if (conflicts !== undefined) made.conflicts(conflicts);
  if (parse === undefined) return made;
  return made.argParser((text, before: unknown) => {
    try {
      const value = parse(text);
      return Array.isArray(before) && Array.isArray(value)
        ? [...(before as unknown[]), ...(value as unknown[])]
        : value;
    } catch (error) {
      throw error instanceof UsageError ? new InvalidArgumentError(error.message) : error;
    }
  });
}

/** @throws UsageError for options between the names of a group and of its command: the command would not see them */
function refuseBefore(group: Parser, name: string): void {
  const given = Object.keys(group.opts()).filter((key) => group.getOptionValueSource(key) === 'cli');
  if (given.length === 0) return;
  throw new UsageError(`options stand before "${name}", and belong behind it`, {
    remedy: `kbuild ${group.name()} ${name} [options]`,
  });
}

/** @throws UsageError for a word that is almost the name of a command of the group: it would be taken for a file */
function refuseAlmost(group: Parser, word: string | undefined): void {
  if (word === undefined || /[/\\.]/.test(word) || existsSync(word)) return;
  const close = nearest(
    word,
    group.commands.map((one) => one.name()),
  );
  if (close === undefined) return;
  throw new UsageError(`"${word}" is no command of kbuild ${group.name()}, and no file`, {
    remedy: `did you mean "${close}"? A file is written ./${word}`,
  });
}

/** What all commands have in common. */
interface Around {
  readonly version: string;
  /** Gets the exit code of the command that was run. */
  readonly done: (code: number) => void;
  /** Called when the command and all that it needs are loaded, before it runs. */
  readonly onLoaded: () => void;
}

/** Options that say what is printed, and how. */
interface Shown {
  readonly inventory?: string;
  readonly color?: boolean;
  readonly json?: boolean;
  readonly markdown?: boolean;
  readonly graph?: string;
}

function addCommand(parent: Parser, command: Command, { version, done, onLoaded }: Around): Parser {
  const { name, alias, summary, operand, options, printsData, run } = command;
  const parser = parent
    .command(name)
    .description(summary)
    .argument(operand.name, operand.summary)
    .addHelpText('after', examples(command.examples));
  if (alias !== undefined) parser.alias(alias);
  for (const one of options) parser.addOption(parserOption(one));
  parser.action(async (first: string | undefined) => {
    refuseBefore(parent, name);
    refuseAlmost(parser, first);
    const isInventory = isInventoryOperand(operand) && first !== undefined;
    const values: Shown = { ...parser.opts<Shown>(), ...(isInventory ? { inventory: first } : {}) };
    const { color, json, markdown, graph } = values;
    const context = processContext({
      inventoryOnStdin: values.inventory === '-',
      version,
      hasColours: color !== false,
      printsData: printsData === true || json === true || markdown === true || graph !== undefined,
    });
    const command = await run();
    onLoaded();
    done(await command(context, values, parser.args));
  });
  return parser;
}

/** commander's form of the name of a group. */
const groupParser = (parent: Parser, { name, summary, itself }: CommandGroup, around: Around): Parser =>
  itself === undefined
    ? parent.command(name).description(summary)
    : // Otherwise the group takes the options that stand behind the name of one of its commands.
      addCommand(parent, itself, around).enablePositionalOptions();

function addAll(parent: Parser, list: readonly (Command | CommandGroup)[], around: Around): void {
  for (const item of list)
    if ('commands' in item) addAll(groupParser(parent, item, around), item.commands, around);
    else addCommand(parent, item, around);
}

/** commander's form of all commands. */
export function program(around: Around): Parser {
  const root = new Parser('kbuild')
    .description('Turns an inventory of bare hosts into a production Kubernetes cluster with kubeadm, over SSH.')
    .version(around.version)
    .exitOverride()
    // Errors are printed below, as those of commands.
    .configureOutput({ outputError: () => undefined })
    .enablePositionalOptions()
    .addHelpText(
      'after',
      examples(['kbuild init inventory.yaml', 'kbuild check inventory.yaml', 'kbuild up inventory.yaml']),
    );
  addAll(root, commands, around);
  return root;
}

/** True for the command of this name, or with this alias. */
const hasName =
  (word: string) =>
  (one: Parser): boolean =>
    one.name() === word || one.aliases().includes(word);

/** The command that these words name, as far as they name one. */
function commandOf(root: Parser, words: readonly string[]): { readonly command: string; readonly names: string[] } {
  let parser = root;
  const path = ['kbuild'];
  for (const word of words) {
    const next = parser.commands.find(hasName(word));
    if (next === undefined) break;
    parser = next;
    path.push(next.name());
  }
  return { command: path.join(' '), names: parser.commands.map((one) => one.name()) };
}

/** Help about a command that does not exist would be that about all. @throws CommanderError */
function refuseUnknown(root: Parser, [, , first = '-']: readonly string[]): void {
  if (first.startsWith('-') || first === 'help' || root.commands.some(hasName(first))) return;
  throw new CommanderError(1, 'commander.unknownCommand', `error: unknown command '${first}'`);
}

/** `kbuild version`, and `kbuild -h COMMAND`: other tools have them. */
function asOtherTools(argv: readonly string[]): readonly string[] {
  const [node = '', script = '', first, ...rest] = argv;
  if (first === 'version' && rest.length === 0) return [node, script, '--version'];
  if (['-h', '--help', 'help'].includes(first ?? '') && rest.length > 0) return [node, script, ...rest, '--help'];
  return argv;
}

/** Runs the command line; the exit code. Errors are printed here and nowhere else. */
export async function run(
  argv: readonly string[],
  version: string,
  onLoaded: Around['onLoaded'] = () => undefined,
): Promise<number> {
  let code = 0;
  const root = program({ version, done: (result) => (code = result), onLoaded });
  try {
    const given = asOtherTools(argv);
    refuseUnknown(root, given);
    await root.parseAsync(given);
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { text, exitCode } = ended(
      error instanceof CommanderError ? commandLineError(error, commandOf(root, argv.slice(2))) : error,
      version,
    );
    proseTo(process.stderr, process.env, !argv.includes('--no-color'))(text);
    return exitCode;
  }
}
