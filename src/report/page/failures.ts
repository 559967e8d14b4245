import { lastWordsOf } from '../failure.ts';
import type { RunRecord } from '../record/line.ts';
import { grouped, hostList } from '../text.ts';
import { clock, html, type Html, lineOf, linesOf, said, sign, withCode } from './html.ts';
import type { PhaseView } from './phase-view.ts';

const INTERRUPTED = 130;

/** Failures of hosts with the same texts. */
export interface FailureView {
  /** As a list in a sentence; empty for an error of the whole run. */
  readonly hosts: string;
  /** Where it first failed; empty: in no phase. */
  readonly phase: string;
  readonly step: string;
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
  const told = linesOf(record, 'failure');
  const untold = places.filter(({ host }) => !told.some((failure) => failure.host === host));
  const all = [
    ...told,
    ...untold.map(({ host, summary }) => ({ host, message: summary, cause: '', remedy: '', lastWords: '' })),
  ].toSorted((a, b) => timeOf(a.host) - timeOf(b.host));
  const failures = grouped(
    all,
    () => '',
    ({ host, message, cause, remedy }) => [withoutPrefix(message, host), cause, remedy],
  ).map(({ items, hosts, texts: [message = '', cause = '', remedy = ''] }): FailureView => {
    const place = placeOf(items[0]!.host);
    const witness = items.find(({ lastWords }) => lastWords !== '') ?? items[0]!;
    return {
      hosts: hostList(hosts),
      phase: place?.phase ?? '',
      step: place?.step ?? '',
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

/** The first line of a message, and the others. */
function messageOf(message: string): Html {
  const [first = '', ...rest] = message.split('\n');
  return html`<p class="message">${said(first)}</p>
    ${rest.length === 0 ? undefined : html`<pre tabindex="0">${rest.join('\n')}</pre>`}`;
}

function body(failure: FailureView): Html {
  const { cause, remedy, lastWords, witness, message } = failure;
  return html`${messageOf(message)}
    <dl class="why">
      ${
        cause === ''
          ? undefined
          : html`<div>
              <dt>Cause</dt>
              <dd>${withCode(cause)}</dd>
            </div>`
      }
      ${
        remedy === ''
          ? undefined
          : html`<div>
              <dt>What to do</dt>
              <dd>${withCode(remedy)}</dd>
            </div>`
      }
    </dl>
    ${lastWords.map(
      ({ title, lines }) =>
        html`<p class="last-words">Last words of ${said(title)} on ${said(witness)}</p>
          <pre tabindex="0">${lines.join('\n')}</pre>`,
    )}`;
}

const headline = ({ hosts, isInterruption }: FailureView): Html =>
  html`${isInterruption ? sign('warn', '■') : sign('bad', '✖')} ${hosts === '' ? 'The run' : said(hosts)}`;

/** The title of the section. */
const titleOf = ([first, ...others]: readonly FailureView[]): string => {
  if (first?.isInterruption === true) return 'What ended the run';
  return others.length === 0 ? 'What failed' : 'What failed first';
};

/** The first failure in full, the others folded. */
export function failures(all: readonly FailureView[], phases: readonly PhaseView[]): Html | undefined {
  const [first, ...others] = all;
  if (first === undefined) return undefined;
  const tone = first.isInterruption ? 'warn' : 'bad';
  return html`<section class="card failure ${tone}" id="failure" aria-labelledby="failure-title">
    <h2 id="failure-title">${titleOf(all)}</h2>
    <h3>${headline(first)} <span class="place">${place(first, phases)}</span></h3>
    ${body(first)}
    ${others.map(
      (failure) =>
        html`<details>
          <summary>${headline(failure)} <span class="place">${place(failure, phases)}</span></summary>
          ${body(failure)}
        </details>`,
    )}
  </section>`;
}
