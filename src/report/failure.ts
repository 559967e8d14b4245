import { KbuildError, refusalLines, refusalOf } from '../errors.ts';
import { windowsSignatures } from '../windows/problems/problems.ts';
import { kubeadmSignatures } from './signatures/kubeadm.ts';
import type { Signature } from './signatures/signature.ts';
import { packageSignatures, surroundingsSignatures } from './signatures/system.ts';
import { type Group, grouped, hostList } from './text.ts';

/**
 * Known failures, the most telling first. Sources: kubeadm, kubelet, the container runtime, etcd and package managers
 * as they print in English (LC_ALL=C).
 */
export const signatures: readonly Signature[] = [
  ...kubeadmSignatures,
  ...packageSignatures,
  ...windowsSignatures.flatMap(({ name, said, cause, remedy }) =>
    said === undefined ? [] : [{ name: `windows-${name}`, seen: said, cause, remedy }],
  ),
  ...surroundingsSignatures,
];

/**
 * Characters of a line that are searched. The patterns search for several words in one line, so that the time grows
 * with the square of its length.
 */
const SEARCHED = 2000;

const cutLines = (text: string): string =>
  text.length <= SEARCHED
    ? text
    : text
        .split('\n')
        .map((line) => line.slice(0, SEARCHED))
        .join('\n');

/** kubeadm prints warnings that are not the cause of its failure. */
const withoutWarnings = (text: string): string => cutLines(text).replaceAll(/^[ \t]*\[WARNING .*$/gm, '');

/**
 * The known cause of a failure: the first signature that the texts, taken in their order, show. A cause in the last
 * text comes before a symptom in the first: the journal of a kubelet that does not answer holds the reason.
 */
export function diagnosis(texts: readonly string[]): Signature | undefined {
  const shown = texts.map(withoutWarnings).flatMap((text) => signatures.filter(({ seen }) => seen.test(text)));
  return shown.find(({ symptom }) => symptom !== true) ?? shown[0];
}

/** The failure of a host with the last lines of its logs. */
interface FailureReport {
  readonly host: string;
  readonly error: Error;
  /** The end of the host's logs, in sections that begin with `== `; empty if they were not fetched. */
  readonly lastWords: string;
}

/** Lines that are shown of each section of last words. */
const SHOWN = 8;

/** Different failures that are shown in full; the log has the others. */
const IN_FULL = 8;

/** The known cause of a failure, from its error and the host's logs. */
export function knownCause({ error, lastWords }: Omit<FailureReport, 'host'>): Signature | undefined {
  const all = error as { readonly stderr?: string; readonly stdout?: string };
  return diagnosis([all.stderr ?? '', all.stdout ?? '', error.message, lastWords]);
}

/** The error without the name of its host, the known cause, the remedy; empty where there is none. */
export function textsOf({
  host,
  error,
  lastWords,
}: FailureReport): readonly [error: string, cause: string, remedy: string] {
  const known = knownCause({ error, lastWords });
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
    ...refusalLines(items[0]!.error),
    ...lastWordsOf(witness.lastWords).flatMap(({ title, lines: last }) => [
      `  the end of the log of ${title}${isOne ? '' : ` on ${witness.host}`}:`,
      ...last.slice(-SHOWN).map((line) => `    ${line}`),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Only refusals of one name are one group. */
const nameOf = ({ error }: FailureReport): string => refusalOf(error).refusal ?? '';

/**
 * Failures as text: hosts that failed alike together, with the known cause, its remedy and the end of one host's logs.
 */
export function failuresText(failures: readonly FailureReport[]): string {
  const groups = grouped(failures, nameOf, textsOf);
  const rest = groups.slice(IN_FULL).flatMap(({ hosts }) => hosts);
  const more = rest.length === 0 ? '' : `✖ ${hostList(rest)}: failed too, each in another way; the log has all of it\n`;
  return groups.slice(0, IN_FULL).map(failureText).join('') + more;
}

/**
 * Errors as text, each with its remedy. The same error of several hosts appears once, and so does a remedy that errors
 * have in common.
 */
export function severalText(errors: readonly Error[]): string {
  const reports = errors.map((error) => ({ host: hostOf(error), error, lastWords: '' }));
  const byRemedy = new Map<string, string[]>();
  for (const { items, hosts, texts } of grouped(reports, nameOf, textsOf)) {
    const [message, , remedy = ''] = texts;
    const text = hosts.length < 2 ? items[0]!.error.message : `${hostList(hosts)}: ${message!}`;
    const end = [...(remedy === '' ? [] : [`  → ${remedy}`]), ...refusalLines(items[0]!.error)].join('\n');
    byRemedy.set(end, [...(byRemedy.get(end) ?? []), text]);
  }
  return [...byRemedy].flatMap(([end, texts]) => [...texts, ...(end === '' ? [] : [end])]).join('\n');
}

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
