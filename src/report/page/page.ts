import { createHash } from 'node:crypto';
import { pagePart } from '../../templates.ts';
import type { RunRecord } from '../record/line.ts';
import { counted, hostList, lasting } from '../text.ts';
import { certificates } from './certificates.ts';
import { cluster } from './cluster.ts';
import { failures } from './failures.ts';
import { findings } from './findings.ts';
import { badge, card, clock, html, type Html, moment, percent, said, type Tone, toneOf, trusted } from './html.ts';
import type { PhaseView } from './phase-view.ts';
import { plan } from './plan.ts';
import { ports } from './ports.ts';
import { timeline } from './timeline.ts';
import { type Outcome, reportView, type ReportView } from './view.ts';

/** The host that took longest in a phase, and the reasons why others waited. */
function longestText({ longest, hosts, others }: PhaseView): Html {
  if (longest === undefined) return html`no host began`;
  const on =
    longest.on === '' || longest.onMs < 100 ? undefined : html`, of it ${lasting(longest.onMs)}: ${said(longest.on)}`;
  const waiting =
    others.waiting === 0
      ? undefined
      : html`; ${counted(others.waiting, 'host')} waited for it, ${said(others.host)} longest
        (${lasting(others.longestMs)})`;
  return html`${hosts.length === 1 ? 'only' : 'longest'}
    <strong>${said(longest.host)}</strong> ${lasting(longest.ms)}${on}${waiting}`;
}

function row(phase: PhaseView, longestMs: number): Html {
  const { number, title, hosts, changes, failed, isCut, fromMs, toMs } = phase;
  const ms = toMs - fromMs;
  return html`<li>
    <p class="name">
      <span class="swatch ${toneOf(number)}" aria-hidden="true">${number}</span>
      <span>${title}</span>
      ${failed.length === 0 ? undefined : badge('bad', '✖', `failed on ${hostList(failed)}`)}${isCut ? badge('warn', '■', 'not finished') : undefined}
    </p>
    <svg class="bar" aria-hidden="true">
      <rect class="${toneOf(number)}" width="${percent(ms, longestMs)}" height="100%" rx="3" />
    </svg>
    <p class="ms">${lasting(ms)}</p>
    <p class="counts">
      ${counted(hosts.length, 'host')}, ${changes === 0 ? 'nothing to change' : counted(changes, 'change')}, from
      ${clock(fromMs)}
    </p>
    <p class="longest">${longestText(phase)}</p>
  </li>`;
}

/** The phases with their longest hosts, and the longest changes and waits of the run as a table. */
function phases({ phases: all, longest, head }: ReportView): Html {
  const longestMs = Math.max(1, ...all.map(({ fromMs, toMs }) => toMs - fromMs));
  const titles = new Map(all.map(({ name, title }) => [name, title]));
  const about = 'How long each phase lasted, its longest host, and who had to wait for that host. Phases overlap.';
  return card(
    'phases',
    'Phases',
    about,
    html`<ol class="phases">
        ${all.map((phase) => row(phase, longestMs))}
      </ol>
      <details>
        <summary>The longest changes and waits of ${said(head.cluster)} (${longest.length}), as a table</summary>
        <div class="scroll" tabindex="0" role="group" aria-label="The longest changes and waits">
          <table>
            <thead>
              <tr>
                <th scope="col">Host</th>
                <th scope="col">What</th>
                <th scope="col">Phase</th>
                <th scope="col" class="number">From</th>
                <th scope="col" class="number">Took</th>
              </tr>
            </thead>
            <tbody>
              ${longest.map(
                (span) =>
                  html`<tr>
                    <th scope="row">${span.host === '' ? 'whole run' : said(span.host)}</th>
                    <td>
                      ${span.what === 'wait' ? 'waits: ' : ''}${said(span.summary)}${span.end === 'done' ? '' : span.end === 'failed' ? ' (failed)' : ' (not finished)'}
                    </td>
                    <td>${titles.get(span.phase) ?? span.phase}</td>
                    <td class="number">${clock(span.fromMs)}</td>
                    <td class="number">${lasting(span.toMs - span.fromMs)}</td>
                  </tr> `,
              )}
            </tbody>
          </table>
        </div>
      </details>`,
  );
}

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
    ${waitedMs === 0 ? undefined : figure(lasting(waitedMs), 'waited (sum of all hosts)')}
  </dl>`;
}

/** The head of the page: the result in one line, what ran, the key figures. */
function top(view: ReportView): Html {
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
const contents = (sections: readonly (readonly [id: string, title: string])[]): Html =>
  html`<nav class="contents" aria-label="Sections">
    <ul>
      ${sections.map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>`)}
    </ul>
  </nav>`;

/** The notes that the run left for the operator. */
const notes = ({ notes: all }: ReportView): Html =>
  html`<ul class="notes">
    ${all.map(({ host, summary }) => html`<li><strong>${said(host)}</strong> ${said(summary)}</li>`)}
  </ul>`;

/** The first bytes of a report: kbuild overwrites no file that begins otherwise. */
export const REPORT_BEGINS = '<!doctype html>\n<!-- A run of kbuild -->\n';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Nothing is loaded, sent or framed; only this style and this script count. */
const policyOf = (style: string, script: string): string =>
  `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; base-uri 'none'; form-action 'none'`;

/** The sections of a page in their order, without those for which the record has nothing. */
function sectionsOf(view: ReportView): readonly (readonly [id: string, title: string, content: Html | undefined])[] {
  return [
    [
      'failure',
      view.failures[0]?.isInterruption === true ? 'End' : 'Failure',
      failures(view.failures, view.phases, view.next),
    ],
    ['timeline', 'Timeline', view.timeline.rows.length === 0 ? undefined : timeline(view.timeline, view.phases)],
    ['phases', 'Phases', view.phases.length === 0 ? undefined : phases(view)],
    ['plan', 'Plan', plan(view.plan)],
    ['notes', 'Notes', view.notes.length === 0 ? undefined : card('notes', 'To know later', '', notes(view))],
    ['cluster', 'Cluster', cluster(view.cluster)],
    ['certificates', 'Certificates', certificates(view.certificates)],
    ['findings', 'Findings', findings(view.findings)],
    ['ports', 'Ports', ports(view.ports)],
  ];
}

const footer = ({ head, isWhole, leftOut }: ReportView): Html =>
  html`<footer>
    <p>
      Made by kbuild from the record of run <code>${head.run}</code> (format ${head.format}), which kbuild
      ${head.kbuild} wrote${moment(head.time) === head.time ? '' : ` on ${moment(head.time)}`}. This file loads nothing
      and sends
      nothing.${isWhole ? '' : ' The record has no end: kbuild was killed, or still ran.'}${leftOut === 0 ? '' : ` ${String(leftOut)} lines of the record could not be read.`}
    </p>
  </footer>`;

/**
 * A report as one HTML file that needs no network. Pure but for its own style and script, which it reads from
 * templates/.
 */
export function reportPage(record: RunRecord): string {
  const view = reportView(record);
  const [style, script] = [pagePart('page.css'), pagePart('page.js')];
  const sections = sectionsOf(view).filter(([, , content]) => content !== undefined);
  const title = `kbuild ${view.head.command}: ${view.head.cluster}, ${view.result.line}`;
  const page = html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta http-equiv="Content-Security-Policy" content="${policyOf(style, script)}" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="referrer" content="no-referrer" />
      <meta name="robots" content="noindex" />
      <title>${title}</title>
      ${trusted(`<style>${style}</style>`)}
    </head>
    <body>
      <a class="skip" href="#main">Skip to the content</a>
      ${top(view)} ${contents(sections.map(([id, name]) => [id, name]))}
      <main id="main">${sections.map(([, , content]) => content)}</main>
      ${footer(view)} ${trusted(`<script>${script}</script>`)}
    </body>
  </html> `;
  return `${REPORT_BEGINS}${page.toString()}`;
}
