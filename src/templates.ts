import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Handlebars from 'handlebars';
import type { Command } from './shell/command.ts';
import { psCommand, withoutComments, type PsValue } from './shell/powershell.ts';
import type { Secret } from './shell/secret.ts';
import { quote } from './shell/sh.ts';

const texts = new Map<string, string>();

function read(name: string): string {
  const text = texts.get(name) ?? readFileSync(fileURLToPath(new URL(`../templates/${name}`, import.meta.url)), 'utf8');
  texts.set(name, text);
  return text;
}

/** A script without its head, the comment that tells readers of templates/ what it does: a host needs no copy of it. */
const withoutHead = (name: string): string => read(name).replace(/^(?:#.*\n)+/, '');

/** What a script's parameter may be; a list arrives as one line an item. */
export type Parameter = string | number | readonly string[];

/**
 * A static script of templates/ (POSIX sh) with its parameters as variables, set before the first line.
 * Throws `TypeError` on a list item with a line break, which would become two.
 */
export function script(name: `${string}.sh`, parameters: Readonly<Record<string, Parameter>> = {}): Command<'sh'> {
  const assignments = Object.entries(parameters).map(([key, value]) => {
    if (typeof value === 'string' || typeof value === 'number') return `${key}=${quote(String(value))}`;
    if (value.some((item) => item.includes('\n'))) throw new TypeError(`${name}: an item of ${key} has a line break`);
    return `${key}=${quote(value.join('\n'))}`;
  });
  return { shell: 'sh', script: [...assignments, withoutHead(name)].join('\n'), title: name };
}

/** A script that may use the functions of another one, e.g. those of linux/mounts.sh. */
const using = (functions: `${string}.sh`, command: Command<'sh'>): Command<'sh'> => ({
  ...command,
  script: `${withoutHead(functions)}\n${command.script}`,
});

/** A script that may use the functions of another one. */
export const scriptUsing = (functions: `${string}.sh`, ...parameters: Parameters<typeof script>): Command<'sh'> =>
  using(functions, script(...parameters));

/** A command whose script writes the marker: it may use the function of linux/marker.sh. */
export const marking = (command: Command<'sh'>): Command<'sh'> => using('linux/marker.sh', command);

/** A script that empties or removes folders: it may use the functions of linux/mounts.sh. */
export const deletingScript = (
  name: `${string}.sh`,
  parameters: Readonly<Record<string, Parameter>> = {},
): Command<'sh'> => scriptUsing('linux/mounts.sh', name, parameters);

/** A static PowerShell script that runs in a pod of a Windows host; its parameters are environment variables. */
export const podScript = (name: `${string}.ps1`): string => read(`windows-pods/${name}`);

/**
 * A static script of templates/windows with its parameters, bound to its param() block; it may use the functions of
 * windows/common.ps1. Parameters that are secrets go to `secrets`. Throws `TypeError` on text that would not arrive whole.
 */
export const powershell = (
  name: `windows/${string}.ps1`,
  params: Readonly<Record<string, PsValue>> = {},
  secrets: Readonly<Record<string, Secret>> = {},
): Command<'powershell'> =>
  psCommand({ common: read('windows/common.ps1'), script: read(name), name, params }, secrets);

/** The text of a script that is put on a host as a file. */
export const scriptFile = (name: `linux/${string}.sh` | `windows/${string}.ps1`): string => read(name);

/** What powershell.exe runs first on every Windows host, for every command. */
export const windowsBootstrap = (): string => withoutComments(read('windows/bootstrap.ps1'));

/** A configuration file of another program, from templates/etc. Throws on a value that is missing. */
export function render(name: string, values: object): string {
  const template = Handlebars.compile(read(`etc/${name}.hbs`), { noEscape: true, strict: true });
  return template(values);
}
