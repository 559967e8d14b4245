import { KbuildError } from '../errors.ts';
import { grouped, type Group } from './grouped.ts';
import { hostList } from './host-list.ts';
import { diagnosis } from './signatures.ts';

/** The failure of a host with the last lines of its logs. */
export interface FailureReport {
  readonly host: string;
  readonly error: Error;
  /** The end of the host's logs, in sections that begin with `== `; empty if they were not fetched. */
  readonly lastWords: string;
}

/** Lines that are shown of each section of last words. */
const SHOWN = 8;

/** Different failures that are shown in full; the log has the others. */
const IN_FULL = 8;

/** The error without the name of its host, the known cause, the remedy; empty where there is none. */
export function textsOf({
  host,
  error,
  lastWords,
}: FailureReport): readonly [error: string, cause: string, remedy: string] {
  const all = error as { readonly stderr?: string; readonly stdout?: string };
  const known = diagnosis([all.stderr ?? '', all.stdout ?? '', error.message, lastWords]);
  const remedy = known?.remedy ?? (error instanceof KbuildError ? error.remedy : undefined);
  const prefix = `${host}: `;
  const message = error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message;
  return [message, known?.cause ?? '', remedy ?? ''];
}

function failureText({ items, hosts, texts }: Group<FailureReport>): string {
  const [message, cause, remedy] = texts as readonly [string, string, string];
  const isOne = hosts.length === 1;
  const witness = items.find(({ lastWords }) => lastWords !== '') ?? items[0]!;
  const lines = [
    `✖ ${isOne ? items[0]!.error.message : `${hostList(hosts)}: ${message}`}`,
    ...(cause === '' ? [] : [`  cause: ${cause}`]),
    ...(remedy === '' ? [] : [`  → ${remedy}`]),
    ...lastWordsOf(witness.lastWords).flatMap(({ title, lines: last }) => [
      `  last words of ${title}${isOne ? '' : ` on ${witness.host}`}:`,
      ...last.slice(-SHOWN).map((line) => `    ${line}`),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Failures as text: hosts that failed alike together, with the known cause, its remedy and the end of one host's logs. */
export function failuresText(failures: readonly FailureReport[]): string {
  const groups = grouped(failures, () => '', textsOf);
  const rest = groups.slice(IN_FULL).flatMap(({ hosts }) => hosts);
  const more = rest.length === 0 ? '' : `✖ ${hostList(rest)}: failed too, each in another way; the log has all of it\n`;
  return groups.slice(0, IN_FULL).map(failureText).join('') + more;
}

/** Errors as text, each with its remedy. The same error of several hosts appears once. */
export const severalText = (errors: readonly Error[]): string =>
  grouped(
    errors.map((error) => ({ host: hostOf(error), error, lastWords: '' })),
    () => '',
    textsOf,
  )
    .map(({ items, hosts, texts: [message, , remedy = ''] }) => {
      const text = hosts.length < 2 ? items[0]!.error.message : `${hostList(hosts)}: ${message!}`;
      return `${text}${remedy === '' ? '' : `\n  → ${remedy}`}`;
    })
    .join('\n');

/** The hosts that do not answer, with the reasons; empty if all answer. */
export const unreachableText = (unreachable: readonly { readonly error: Error }[]): string =>
  unreachable.length === 0
    ? ''
    : `${severalText(unreachable.map(({ error }) => error)).replaceAll(/^(?! )/gm, '! ')}\n`;

/** The host that an error names, or the first word of its message. */
const hostOf = (error: Error): string =>
  (error as { readonly host?: string }).host ?? /^[^\s:]+(?=: )/.exec(error.message)?.[0] ?? '';

/** The sections of last words that have a text. */
export function lastWordsOf(text: string): readonly { readonly title: string; readonly lines: readonly string[] }[] {
  return text
    .split(/^== /m)
    .slice(1)
    .map((section) => {
      const [title, ...lines] = section.trimEnd().split('\n');
      return { title: title!, lines: lines.filter((line) => line.trim() !== '' && line !== '-- No entries --') };
    })
    .filter(({ lines }) => lines.length > 0);
}
