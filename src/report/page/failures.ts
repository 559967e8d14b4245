import { lastWordsOf } from '../failure.ts';
import type { RunRecord } from '../record/line.ts';
import { quote } from '../../shell/sh.ts';
import { grouped, hostList } from '../text.ts';
import { clock, html, type Html, lineOf, linesOf, said, sign, withCode } from './html.ts';
import type { PhaseView } from './phase-view.ts';

const INTERRUPTED = 130;

/** Exit codes after which the same command ends as before: its words are wrong, a check stops it, it is refused. */
const SAME_AGAIN: readonly number[] = [2, 6, 7];

/** Failures of hosts with the same texts. */
export interface FailureView {
  /** As a list in a sentence; empty for an error of the whole run. */
  readonly hosts: string;
  /** Where it first failed; empty: in no phase. */
  readonly phase: string;
  readonly step: string;
  /** The change that failed, as its summary names it; empty: no change was under way. */
  readonly change: string;
  /** When it first failed, in ms since the start of the run; undefined: unknown. */
  readonly atMs: number | undefined;
  readonly message: string;
  /** Empty: unknown. */
  readonly cause: string;
  /** Empty: unknown. */
  readonly remedy: string;
  /** The end of one host's logs, by the program that wrote them. */
  readonly lastWords: readonly { readonly title: string; readonly lines: readonly string[] }[];
  /** An operator ended the run: nothing failed. */
  readonly isInterruption: boolean;
  /** The host of the last words. */
  readonly witness: string;
}

/** The failures of a run, the first one first; last the error that ended it, unless it says the same. Pure. */
export function failuresOf(record: RunRecord): readonly FailureView[] {
  const startMs = Date.parse(record.head.time);
  const places = linesOf(record, 'failed');
  const placeOf = (host: string): (typeof places)[number] | undefined => places.find((place) => place.host === host);
  const timeOf = (host: string): number => Date.parse(placeOf(host)?.time ?? '') - startMs || Infinity;
  const changing = linesOf(record, 'changing');
  /** The summary of the change that failed, without what was there before. */
  const changeOf = (host: string): string => {
    const at = placeOf(host);
    const change = changing.findLast((one) => one.host === host && one.phase === at?.phase && one.step === at.step);
    return change?.summary.replace(/ \(found [^()]*\)$/, '') ?? '';
  };
  const told = linesOf(record, 'failure');
  const untold = places.filter(({ host }) => !told.some((failure) => failure.host === host));
  const all = [
    ...told,
    ...untold.map(({ host, summary }) => ({ host, message: summary, cause: '', remedy: '', lastWords: '' })),
  ].toSorted((a, b) => timeOf(a.host) - timeOf(b.host));
  const failures = grouped(
    all,
    () => '',
    ({ host, message, cause, remedy }) => [withoutPrefix(message, host), cause, remedy, changeOf(host)],
  ).map(({ items, hosts, texts: [message = '', cause = '', remedy = '', change = ''] }): FailureView => {
    const place = placeOf(items[0]!.host);
    const witness = items.find(({ lastWords }) => lastWords !== '') ?? items[0]!;
    return {
      hosts: hostList(hosts),
      phase: place?.phase ?? '',
      step: place?.step ?? '',
      change,
      atMs: place === undefined ? undefined : Date.parse(place.time) - startMs,
      message,
      cause,
      remedy,
      lastWords: lastWordsOf(witness.lastWords),
      witness: witness.host,
      isInterruption: false,
    };
  });
  return [...failures, ...endOf(record, failures)];
}

const withoutPrefix = (message: string, host: string): string =>
  message.startsWith(`${host}: `) ? message.slice(host.length + 2) : message;

/** The error that ended the run, if no failure says the same. */
function endOf(record: RunRecord, failures: readonly FailureView[]): readonly FailureView[] {
  const error = lineOf(record, 'error');
  if (error === undefined || failures.some(({ message }) => error.message.includes(message))) return [];
  const { message, remedy, time, exitCode } = error;
  const atMs = Date.parse(time) - Date.parse(record.head.time);
  return [
    {
      hosts: '',
      phase: '',
      step: '',
      change: '',
      atMs,
      message,
      cause: '',
      remedy,
      lastWords: [],
      witness: '',
      isInterruption: exitCode === INTERRUPTED,
    },
  ];
}

/** Where and when it failed. */
function place({ phase, step, atMs }: FailureView, phases: readonly PhaseView[]): string {
  const title = phases.find(({ name }) => name === phase)?.title ?? phase;
  const when = atMs === undefined ? '' : `at ${clock(atMs)}`;
  return [title === '' ? '' : `in ${title}`, step === '' ? '' : `step ${step}`, when]
    .filter((part) => part !== '')
    .join(', ');
}

/**
 * The error in a sentence, and what a command printed. A script of kbuild has a name that says nothing to a reader: it
 * stands behind what happened.
 */
function errorOf(message: string): readonly [sentence: string, printed: string] {
  const [first = '', ...rest] = message.split('\n');
  const [, status, command] = /^status (\S+): (.*)$/.exec(first) ?? [];
  const sentence = status === undefined ? first : `${command!} ended with status ${status}`;
  return [sentence, rest.join('\n')];
}

const row = (title: string, text: string): Html | undefined =>
  text === ''
    ? undefined
    : html`<div>
        <dt>${title}</dt>
        <dd>${withCode(text)}</dd>
      </div>`;

function body(failure: FailureView, next: string): Html {
  const { cause, remedy, lastWords, witness, message } = failure;
  const [sentence, printed] = errorOf(message);
  const isShort = printed !== '' && !printed.includes('\n');
  const why = cause !== '' ? cause : isShort ? printed : sentence;
  return html`<dl class="why">${row('Why', why)} ${row('What to do', remedy)} ${row('Next', next)}</dl>
    ${why === sentence ? undefined : html`<p class="last-words">${said(sentence)}</p>`}
    ${printed === '' || why === printed ? undefined : html`<pre tabindex="0">${printed}</pre>`}
    ${lastWords.map(
      ({ title, lines }) =>
        html`<p class="last-words">The end of the log of ${said(title)} on ${said(witness)}</p>
          <pre tabindex="0">${lines.join('\n')}</pre>`,
    )}`;
}

/** What failed, in one sentence. */
function headline({ hosts, change, isInterruption }: FailureView): Html {
  const who = hosts === '' ? 'The run' : said(hosts);
  const what = isInterruption ? 'was interrupted' : change === '' ? 'failed' : html`could not ${said(change)}`;
  return html`${isInterruption ? sign('warn', '■') : sign('bad', '✖')} ${who} ${what}`;
}

/** The command that goes on where the run ended, and where its log is; empty where the same would happen again. */
export function nextOf(record: RunRecord): string {
  const exitCode = lineOf(record, 'end')?.exitCode ?? lineOf(record, 'error')?.exitCode ?? 1;
  const { command, inventory, log } = record.head;
  const again = `\`kbuild ${command}${inventory === undefined ? '' : ` -i ${quote(inventory)}`}\``;
  const goOn = SAME_AGAIN.includes(exitCode)
    ? []
    : [`run the same command again, with the options that it had, to go on from here: ${again}`];
  return [...goOn, ...(log === undefined ? [] : [`the log has every command: \`${log}\``])].join('; ');
}

/** The title of the section. */
const titleOf = ([first, ...others]: readonly FailureView[]): string => {
  if (first?.isInterruption === true) return 'What ended the run';
  return others.length === 0 ? 'What failed' : 'What failed first';
};

/** The first failure in full, the others folded. */
export function failures(all: readonly FailureView[], phases: readonly PhaseView[], next: string): Html | undefined {
  const [first, ...others] = all;
  if (first === undefined) return undefined;
  const tone = first.isInterruption ? 'warn' : 'bad';
  return html`<section class="card failure ${tone}" id="failure" aria-labelledby="failure-title">
    <h2 id="failure-title">${titleOf(all)}</h2>
    <h3>${headline(first)} <span class="place">${place(first, phases)}</span></h3>
    ${body(first, next)}
    ${others.map(
      (failure) =>
        html`<details>
          <summary>${headline(failure)} <span class="place">${place(failure, phases)}</span></summary>
          ${body(failure, '')}
        </details>`,
    )}
  </section>`;
}
