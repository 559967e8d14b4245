import { counted } from '../../host-list.ts';
import { lasting } from '../../lasting.ts';
import { html, type Html } from '../html.ts';
import type { Outcome } from '../result-view.ts';
import type { ReportView } from '../view.ts';
import { moment } from '../words.ts';
import { badge, said, type Tone } from './signs.ts';

const OUTCOMES: Readonly<Record<Outcome, readonly [tone: Tone, sign: string, word: string]>> = {
  done: ['good', '✔', 'Done'],
  failed: ['bad', '✖', 'Failed'],
  interrupted: ['warn', '■', 'Interrupted'],
  unfinished: ['warn', '?', 'Not finished'],
};

const fact = (name: string, value: string): Html =>
  html`<div>
    <dt>${name}</dt>
    <dd>${said(value)}</dd>
  </div>`;

const figure = (value: string, unit: string): Html =>
  html`<div>
    <dt>${unit}</dt>
    <dd>${value}</dd>
  </div>`;

/** The key figures of a run. */
function figures({ result, head, plan }: ReportView): Html {
  const { durationMs, changes, changed, failed, leftOut, waitedMs } = result;
  const open = plan.counts['not done'];
  return html`<dl class="figures">
    ${figure(lasting(durationMs), 'duration')} ${figure(String(changes), changes === 1 ? 'change' : 'changes')}
    ${figure(`${String(changed.length)} of ${String(head.hosts.length)}`, 'hosts changed')}
    ${open === 0 ? undefined : figure(String(open), 'planned and not done')}
    ${failed.length === 0 ? undefined : figure(String(failed.length), failed.length === 1 ? 'host failed' : 'hosts failed')}
    ${leftOut.length === 0 ? undefined : figure(String(leftOut.length), leftOut.length === 1 ? 'host left out' : 'hosts left out')}
    ${figure(lasting(waitedMs), 'waited, all hosts together')}
  </dl>`;
}

/** The head of the page: the result in one line, what ran, the key figures. */
export function top(view: ReportView): Html {
  const { head, result } = view;
  const [tone, mark, word] = OUTCOMES[result.outcome];
  const exit = result.exitCode === undefined ? 'none' : String(result.exitCode);
  return html`<header class="top">
    <p class="eyebrow">
      <span class="brand">kbuild</span> <code>kbuild ${head.command}</code> on cluster
      <strong>${said(head.cluster)}</strong>
    </p>
    <h1>${badge(tone, mark, word)} <span class="line">${result.line}</span></h1>
    <dl class="facts">
      ${fact('Started', moment(head.time))} ${fact('Run', head.run)} ${fact('Exit code', exit)}
      ${fact('Kubernetes', head.kubernetes)} ${fact('Hosts', counted(head.hosts.length, 'host'))}
      ${fact('kbuild', head.kbuild)}
    </dl>
    ${figures(view)}
    ${result.leftOut.map(({ host, message }) => html`<p class="left-out">${badge('warn', '!', 'left out')} <strong>${said(host)}</strong> ${said(message)}</p>`)}
  </header>`;
}

/** Links to the sections that the page has. */
export const contents = (sections: readonly (readonly [id: string, title: string])[]): Html =>
  html`<nav class="contents" aria-label="Sections">
    <ul>
      ${sections.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`)}
    </ul>
  </nav>`;

/** What the operator should know later. */
export const notes = ({ notes: all }: ReportView): Html =>
  html`<ul class="notes">
    ${all.map(({ host, summary }) => html`<li><strong>${said(host)}</strong> ${said(summary)}</li>`)}
  </ul>`;
