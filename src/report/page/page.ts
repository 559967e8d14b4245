import { createHash } from 'node:crypto';
import { pagePart } from '../../templates.ts';
import type { RunRecord } from '../record/line.ts';
import { html, trusted, type Html } from './html.ts';
import { certificates } from './sections/certificates.ts';
import { cluster } from './sections/cluster.ts';
import { failures } from './sections/failures.ts';
import { findings } from './sections/findings.ts';
import { phases } from './sections/phases.ts';
import { plan } from './sections/plan.ts';
import { ports } from './sections/ports.ts';
import { card } from './sections/signs.ts';
import { timeline } from './sections/timeline.ts';
import { contents, notes, top } from './sections/top.ts';
import { reportView, type ReportView } from './view.ts';
import { moment } from './words.ts';

/** What a report begins with: kbuild overwrites no file that begins otherwise. */
export const REPORT_BEGINS = '<!doctype html>\n<!-- A run of kbuild -->\n';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Nothing is loaded, sent or framed; only this style and this script count. */
const policyOf = (style: string, script: string): string =>
  `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; base-uri 'none'; form-action 'none'`;

/** The sections of a page in their order; what a run does not have is left out. */
function sectionsOf(view: ReportView): readonly (readonly [id: string, title: string, content: Html | undefined])[] {
  return [
    ['failure', view.failures[0]?.isInterruption === true ? 'End' : 'Failure', failures(view.failures, view.phases)],
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

/** A report as one HTML file that needs no network. Pure but for its own style and script, which it reads from templates/. */
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
