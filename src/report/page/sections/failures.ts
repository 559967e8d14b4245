import { html, type Html } from '../html.ts';
import type { FailureView } from '../failure-view.ts';
import type { PhaseView } from '../phase-view.ts';
import { clock } from '../words.ts';
import { said, sign, withCode } from './signs.ts';

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
