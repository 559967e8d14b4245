import { commands } from '../../src/commands/commands.ts';
import { EXIT_CODES } from '../../src/exit-codes.ts';
import type { Command, CommandGroup, Declaration } from '../../src/session/command.ts';
import type { Option } from '../../src/session/options.ts';

/** A command, or the name alone of a group, under its whole name: `etcd snapshot`. */
interface Page {
  readonly path: string;
  readonly summary: string;
  readonly declaration: Declaration | undefined;
  readonly inside: readonly { readonly path: string; readonly summary: string }[];
}

function pagesOf(items: readonly (Command | CommandGroup)[], before = ''): readonly Page[] {
  return items.flatMap((item): readonly Page[] => {
    const path = `${before}${item.name}`;
    if (!('commands' in item)) return [{ path, summary: item.summary, declaration: item, inside: [] }];
    const inside = item.commands.map(({ name, summary }) => ({ path: `${path} ${name}`, summary }));
    return [{ path, summary: item.summary, declaration: item.itself, inside }, ...pagesOf(item.commands, `${path} `)];
  });
}

const ROFF: Readonly<Record<string, string>> = {
  '\\': '\\(rs',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
  '"': '\\(dq',
};

/** Text that roff prints as it stands, also at the start of a line. */
export const roffText = (text: string): string => {
  const escaped = text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(
      /[\\'`^~"-]|[^\u0020-\u007e]/gu,
      (one) => ROFF[one] ?? `\\[u${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}]`,
    );
  return escaped.startsWith('.') ? `\\&${escaped}` : escaped;
};

/** Markdown as roff: `code` is bold, of links only the text stays. */
const prose = (markdown: string): string =>
  markdown
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .split(/`([^`]+)`/)
    .map((part, at) => (at % 2 === 0 ? roffText(part.replaceAll('**', '')) : `\\fB${roffText(part)}\\fR`))
    .join('');

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`;
const bold = (text: string): string => `\\fB${roffText(text)}\\fR`;

const optionText = ({ flags, summary, details }: Option): string =>
  `.TP\n${bold(flags)}\n${prose([sentence(summary), ...(details === undefined ? [] : [details])].join(' '))}`;

const nameOf = (path: string): string => `kbuild-${path.replaceAll(' ', '-')}`;
const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`.SH ${title}`, ...lines];
const listed = (items: readonly { readonly path: string; readonly summary: string }[]): readonly string[] =>
  items.map(({ path, summary }) => `.TP\n${bold(`kbuild ${path}`)}\n${prose(`${summary}.`)}`);
const head = (name: string): string =>
  `.\\" Generated from src/cli/commands by "npm run docs:man"; do not edit.\n.TH ${name.toUpperCase().replaceAll('-', '\\-')} 1 "" "kbuild" "kbuild"\n.\\" Names of settings and files are not to be broken.\n.nh\n.ad l`;

/** Whole command lines, as they are typed. */
const examples = (lines: readonly string[]): readonly string[] =>
  section('EXAMPLES', ['.nf', ...lines.map((line) => roffText(line)), '.fi']);

function commandPage({ path, summary, declaration, inside }: Page): string {
  const usage =
    declaration === undefined
      ? 'COMMAND'
      : ['[options]', declaration.operand.name].filter((word) => word !== '').join(' ');
  return [
    head(nameOf(path)),
    ...section('NAME', [`${roffText(nameOf(path))} \\- ${prose(summary)}`]),
    ...section('SYNOPSIS', [`${bold(`kbuild ${path}`)} ${roffText(usage)}`]),
    ...section('DESCRIPTION', [prose([`${summary}.`, declaration?.details ?? ''].join(' ').trim())]),
    ...section('COMMANDS', listed(inside)),
    ...(declaration === undefined
      ? []
      : [
          ...section('OPERANDS', [
            `.TP\n${bold(declaration.operand.name)}\n${prose(sentence(declaration.operand.summary))}`,
          ]),
          ...section('OPTIONS', declaration.options.map(optionText)),
          ...examples(declaration.examples),
        ]),
    ...section('SEE ALSO', [`${bold('kbuild')}(1), which lists the exit codes`]),
    '',
  ].join('\n');
}

const VARIABLES: Readonly<Record<string, string>> = {
  KBUILD_INVENTORY: 'the inventory where the command line names none',
  KBUILD_JOB_DEADLINE: 'the deadline of every job on hosts, e.g. `30m`',
  XDG_STATE_HOME: 'below it, in `kbuild/<cluster>/`, are logs and snapshots; default `~/.local/state`',
  SSH_AUTH_SOCK: 'the SSH agent',
  NO_COLOR: 'no colours; `CI` means the same',
};

const variable = ([name, text]: readonly [string, string]): string => `.TP\n${bold(name)}\n${prose(sentence(text))}`;

const rootPage = (pages: readonly Page[]): string =>
  [
    head('kbuild'),
    ...section('NAME', ['kbuild \\- turn an inventory of bare hosts into a Kubernetes cluster with kubeadm, over SSH']),
    ...section('SYNOPSIS', [`${bold('kbuild')} COMMAND [options] [operands]`]),
    ...section('DESCRIPTION', [
      prose(
        'kbuild observes hosts, compares them with the inventory, shows what it would change, asks, and changes that. Run the same command again after a failure: it goes on where it stopped. `kbuild COMMAND --help` and a page of each command say more.',
      ),
    ]),
    ...section('COMMANDS', listed(pages)),
    ...section(
      'EXIT STATUS',
      EXIT_CODES.map(({ code, title }) => `.TP\n${bold(String(code))}\n${prose(sentence(title))}`),
    ),
    ...section('ENVIRONMENT', Object.entries(VARIABLES).map(variable)),
    ...section('FILES', [
      `.TP\n${bold('./inventory.yaml')}\nThe inventory where neither the command line nor the environment names one.`,
    ]),
    ...examples(['kbuild init inventory.yaml', 'kbuild check', 'kbuild up']),
    ...section('SEE ALSO', [pages.map(({ path }) => `${bold(nameOf(path))}(1)`).join(', ')]),
    '',
  ].join('\n');

/** Every manual page by its file name. */
export function manualPages(): ReadonlyMap<string, string> {
  const pages = pagesOf(commands);
  return new Map([
    ['kbuild.1', rootPage(pages)],
    ...pages.map((page): [string, string] => [`${nameOf(page.path)}.1`, commandPage(page)]),
  ]);
}
