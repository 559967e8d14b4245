import { commands } from '../../src/commands/commands.ts';
import { EXIT_CODES } from '../../src/exit-codes.ts';
import type { Command, CommandGroup, Declaration } from '../../src/session/command.ts';
import type { Option } from '../../src/session/options.ts';

/** A command under its whole name, e.g. `etcd snapshot save`. */
interface Listed {
  readonly path: string;
  readonly declaration: Declaration;
}

const listed = (items: readonly (Command | CommandGroup)[], before = ''): readonly Listed[] =>
  items.flatMap((item) =>
    'commands' in item
      ? [
          ...(item.itself === undefined ? [] : [{ path: `${before}${item.name}`, declaration: item.itself }]),
          ...listed(item.commands, `${before}${item.name} `),
        ]
      : [{ path: `${before}${item.name}`, declaration: item }],
  );

/** All commands, with their groups' names. */
export const all = listed(commands);
const contacting = all.filter(({ declaration }) => declaration.onHosts !== 'nothing');

const cell = (text: string): string => text.replaceAll('|', '\\|');
const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`;
const meaning = ({ summary, details }: Pick<Option, 'summary' | 'details'>): string =>
  cell([sentence(summary), ...(details === undefined ? [] : [details])].join(' '));

const commandRow = ({ path, declaration }: Listed): string => {
  const { operand, onHosts } = declaration;
  const usage = operand.name === '[inventory]' ? path : `${path} ${operand.name}`;
  return `| \`${usage}\` | ${meaning(declaration)} | ${onHosts} |`;
};

/** The commands that have an option, in as few words as possible. */
function commandsWith(option: Option): string {
  const having = all.filter(({ declaration }) => declaration.options.includes(option));
  const names = (list: readonly Listed[]): string => list.map(({ path }) => path).join(', ');
  if (having.length === all.length) return 'all';
  if (having.length === contacting.length && having.every((one) => contacting.includes(one)))
    return 'all that contact hosts';
  const others = all.filter((one) => !having.includes(one));
  return others.length < having.length ? `all but ${names(others)}` : names(having);
}

const optionRow = (option: Option): string => `| \`${option.flags}\` | ${commandsWith(option)} | ${meaning(option)} |`;

/** Options of many commands first. */
const options = [...new Set(all.flatMap(({ declaration }) => declaration.options))]
  .map((option) => ({
    option,
    users: all.filter(({ declaration }) => declaration.options.includes(option)).length,
  }))
  .toSorted((a, b) => b.users - a.users)
  .map(({ option }) => option);

const table = (head: readonly string[], rows: readonly string[]): string =>
  `| ${head.join(' | ')} |\n|${' --- |'.repeat(head.length)}\n${rows.join('\n')}\n`;

/** Tables of Markdown that pages hold between `<!-- NAME -->` and `<!-- /NAME -->`. */
const tables: Readonly<Record<string, string>> = {
  commands: table(['command', 'what it does', 'on hosts'], all.map(commandRow)),
  options: table(['option', 'of', 'what it means'], options.map(optionRow)),
  'exit codes': `| exit | meaning | what to do |\n| ---: | --- | --- |\n${EXIT_CODES.map(
    ({ code, title, remedy }) => `| ${code} | ${cell(title)} | ${cell(remedy)} |`,
  ).join('\n')}\n`,
};

/** A page with its tables made anew. @throws Error for a name that is no table. */
export const withTables = (page: string): string =>
  page.replaceAll(/<!-- ([a-z ]+) -->\n[\s\S]*?<!-- \/\1 -->/g, (_all, name: string) => {
    const text = tables[name];
    if (text === undefined) throw new Error(`there is no table "${name}"`);
    return `<!-- ${name} -->\n\n${text}\n<!-- /${name} -->`;
  });
