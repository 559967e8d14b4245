import { KbuildError } from '../errors.ts';
import { grouped, type Group } from './grouped.ts';
import { hostList } from './host-list.ts';
import { diagnosis } from './signatures.ts';

/** The failure of a host with what was gathered about it. */
export interface FailureReport {
  readonly host: string;
  readonly error: Error;
  /** What the host said afterwards, in sections that begin with `== `; empty when it was not asked. */
  readonly lastWords: string;
}

/** Lines of last words that are shown for each section. */
const SHOWN = 8;

/** Different failures that are told in full; the log has the others. */
const TOLD = 8;

/** What is reported of a failure: the error without the name of its host, the known cause, the remedy. */
function textsOf({ host, error, lastWords }: FailureReport): readonly [error: string, cause: string, remedy: string] {
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
    ...sections(witness.lastWords).flatMap(({ title, lines: said }) => [
      `  last words of ${title}${isOne ? '' : ` on ${witness.host}`}:`,
      ...said.slice(-SHOWN).map((line) => `    ${line}`),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** One cause, one fix, for all hosts that failed alike: the error, the known cause and its remedy, the end of what a host says. */
export function failuresText(failures: readonly FailureReport[]): string {
  const groups = grouped(failures, () => '', textsOf);
  const rest = groups.slice(TOLD).flatMap(({ hosts }) => hosts);
  const more = rest.length === 0 ? '' : `✖ ${hostList(rest)}: failed too, each in another way; the log has all of it\n`;
  return groups.slice(0, TOLD).map(failureText).join('') + more;
}

/** Several errors of a run that never began, those that say the same of several hosts once, each with its own remedy. */
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

/** Which hosts do not answer, and why; empty when all do. */
export const unreachableText = (unreachable: readonly { readonly error: Error }[]): string =>
  unreachable.length === 0
    ? ''
    : `${severalText(unreachable.map(({ error }) => error)).replaceAll(/^(?! )/gm, '! ')}\n`;

/** The host that an error names, or the first word of its message. */
const hostOf = (error: Error): string =>
  (error as { readonly host?: string }).host ?? /^[^\s:]+(?=: )/.exec(error.message)?.[0] ?? '';

/** Sections with a text. */
function sections(text: string): readonly { readonly title: string; readonly lines: readonly string[] }[] {
  return text
    .split(/^== /m)
    .slice(1)
    .map((section) => {
      const [title, ...lines] = section.trimEnd().split('\n');
      return { title: title!, lines: lines.filter((line) => line.trim() !== '' && line !== '-- No entries --') };
    })
    .filter(({ lines }) => lines.length > 0);
}
