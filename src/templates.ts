import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Handlebars from 'handlebars';
import type { Command } from './shell/command.ts';
import { psCommand, withoutComments, type PsValue } from './shell/powershell.ts';
import type { Secret } from './shell/secret.ts';
import { quote } from './shell/sh.ts';

/** A path once, not a URL a file: a look at a host reads 80. */
const FOLDER = fileURLToPath(new URL('../templates/', import.meta.url));

const texts = new Map<string, string>();

function read(name: string): string {
  const text = texts.get(name) ?? readFileSync(`${FOLDER}${name}`, 'utf8');
  texts.set(name, text);
  return text;
}

/** The head of a script: the comment for readers of templates/, which a host does not need. */
const HEAD = /^(?:#.*\n)+/;

const withoutHead = (name: string): string => read(name).replace(HEAD, '');

/**
 * The files of functions that a script names in its head, in the order in which they stand before it: `# uses:
 * engine/kured.sh …`.
 */
const usedBy = (name: string): readonly string[] =>
  /^# uses: (.+)$/m.exec(HEAD.exec(read(name))?.[0] ?? '')?.[1]?.split(' ') ?? [];

/** What a script's parameter may be; a list arrives as one line an item. */
type Parameter = string | number | readonly string[];

/**
 * A static script of templates/ (POSIX sh): the functions that its head names, its parameters as variables, then its
 * lines. Throws `TypeError` on a list item with a line break, which would become two.
 */
export function script(name: `${string}.sh`, parameters: Readonly<Record<string, Parameter>> = {}): Command<'sh'> {
  const assignments = Object.entries(parameters).map(([key, value]) => {
    if (typeof value === 'string' || typeof value === 'number') return `${key}=${quote(String(value))}`;
    if (value.some((item) => item.includes('\n'))) throw new TypeError(`${name}: an item of ${key} has a line break`);
    return `${key}=${quote(value.join('\n'))}`;
  });
  return {
    shell: 'sh',
    script: [...usedBy(name).map(withoutHead), ...assignments, withoutHead(name)].join('\n'),
    title: name,
  };
}

/**
 * A command that may use functions and variables which its head cannot name, because the host decides which they are,
 * or they have parameters, or it has no head: those of a file of templates/, or of a command. They stand before it.
 */
export const using = (before: `${string}.sh` | Command<'sh'>, command: Command<'sh'>): Command<'sh'> => ({
  ...command,
  script: `${typeof before === 'string' ? withoutHead(before) : before.script}\n${command.script}`,
});

/** A static PowerShell script that runs in a pod of a Windows host; its parameters are environment variables. */
export const podScript = (name: `${string}.ps1`): string => read(`windows/pods/${name}`);

/**
 * A static script of templates/windows with its parameters, bound to its param() block; it may use the functions of
 * windows/common.ps1. Parameters that are secrets go to `secrets`. Throws `TypeError` on text that would not arrive
 * whole.
 */
export const powershell = (
  name: `windows/${string}.ps1`,
  params: Readonly<Record<string, PsValue>> = {},
  secrets: Readonly<Record<string, Secret>> = {},
): Command<'powershell'> =>
  psCommand({ common: read('windows/common.ps1'), script: read(name), name, params }, secrets);

/** The text of a script that is put on a host as a file. */
export const scriptFile = (name: `${string}.sh` | `windows/${string}.ps1`): string => read(name);

/** What powershell.exe runs first on every Windows host, for every command. */
export const windowsBootstrap = (): string => withoutComments(read('windows/bootstrap.ps1'));

/** The script with which a shell completes command lines of kbuild. */
export const completionScript = (shell: 'bash' | 'zsh' | 'fish' | 'powershell'): string =>
  read(`cli/kbuild.${shell === 'powershell' ? 'ps1' : shell}`);

/** The style or the script of a report's page. */
export const pagePart = (name: `page.${'css' | 'js'}`): string => read(`report/${name}`);

/** A table of templates/tables, as JSON. */
export const table = (name: 'kubernetes' | 'removed'): string => read(`tables/${name}.json`);

/** A configuration file of another program, from templates/. Throws on a value that is missing. */
export function render(name: string, values: object): string {
  const template = Handlebars.compile(read(`${name}.hbs`), { noEscape: true, strict: true });
  return template(values);
}
