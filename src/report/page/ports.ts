import type { RunRecord } from '../record/line.ts';
import { counted } from '../text.ts';
import { card, html, type Html, lineOf, said, sign } from './html.ts';

/** A larger table shows only hosts whose ways are blocked, narrow or unknown. */
const TABLE = 16;

/** The ways from one host to another. */
interface Cell {
  /** How many ports were tried. */
  readonly tried: number;
  /** e.g. `10250/tcp kubelet` */
  readonly blocked: readonly string[];
  /** The largest packet that its sender sends, where such packets are lost; undefined: none is lost. */
  readonly narrow: number | undefined;
  /** Ports whose state is not known. */
  readonly unverified: readonly string[];
}

/** The ways between hosts. */
export interface PortsView {
  readonly tried: number;
  /** The hosts of the rows (from) and of the columns (to). */
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** By row, then by column; undefined: no way was needed. */
  readonly cells: readonly (readonly (Cell | undefined)[])[];
  /** Blocked ways that the record counts and does not list: then no way is known to be open. */
  readonly unlisted: number;
  /** Hosts that are in no row and no column, because all their ways are open. */
  readonly open: number;
  readonly blocked: readonly {
    readonly from: string;
    readonly to: string;
    readonly port: string;
    readonly how: string;
  }[];
  readonly failed: readonly { readonly host: string; readonly reason: string }[];
}

type Survey = NonNullable<ReturnType<typeof lineOf<'ports-surveyed'>>>;

function cellOf(survey: Survey, from: string, to: string): Cell | undefined {
  const ways = survey.ways.filter((way) => way.to === to && way.from.includes(from));
  const blocked = survey.blocked.filter((one) => one.from === from && one.to === to);
  if (ways.length + blocked.length === 0) return undefined;
  return {
    tried: ways.length,
    blocked: blocked.map(({ port, protocol, program }) => `${String(port)}/${protocol} ${program}`),
    narrow: survey.narrow.find((one) => one.from === from && one.to === to)?.mtu,
    unverified: survey.unverified
      .filter((one) => one.to === to && ways.some(({ port, protocol }) => port === one.port && protocol === 'udp'))
      .map(({ port }) => `${String(port)}/udp`),
  };
}

/** The survey of ports as a table; undefined: there was none. Pure. */
export function portsOf(record: RunRecord): PortsView | undefined {
  const survey = lineOf(record, 'ports-surveyed');
  if (survey === undefined) return undefined;
  const unlisted = survey.unlisted?.blocked ?? 0;
  const all = record.head.hosts.map(({ name }) => name);
  const met = all.filter((name) => survey.ways.some((way) => way.to === name || way.from.includes(name)));
  const odd = new Set([...survey.blocked, ...survey.narrow].flatMap(({ from, to }) => [from, to]));
  const shown = met.length <= TABLE ? met : met.filter((name) => odd.has(name)).slice(0, TABLE);
  const from = shown.filter(
    (name) => survey.ways.some((way) => way.from.includes(name)) || survey.blocked.some((one) => one.from === name),
  );
  const to = shown.filter(
    (name) => survey.ways.some((way) => way.to === name) || survey.blocked.some((one) => one.to === name),
  );
  return {
    tried: survey.ways.reduce((sum, way) => sum + way.from.length, survey.unlisted?.ways ?? 0),
    unlisted,
    from,
    to,
    cells: from.map((sender) => to.map((receiver) => cellOf(survey, sender, receiver))),
    open: unlisted > 0 ? 0 : met.filter((name) => !shown.includes(name) && !odd.has(name)).length,
    blocked: survey.blocked.map((one) => ({
      from: one.from,
      to: one.to,
      port: `${String(one.port)}/${one.protocol} ${one.program}`,
      how: one.how,
    })),
    failed: survey.failed,
  };
}

/** Blocked ways that are listed at most. */
const LISTED = 50;

function cell(one: Cell | undefined): Html {
  if (one === undefined)
    return html`<td class="none"><span aria-hidden="true">·</span><span class="hidden">not needed</span></td>`;
  const { tried, blocked, narrow, unverified } = one;
  if (blocked.length > 0)
    return html`<td class="blocked">
      ${sign('bad', '✖')}
      <span class="hidden">blocked: </span>${blocked.map((port, at) => html`${at === 0 ? '' : ', '}${said(port)}`)}
    </td>`;
  if (narrow !== undefined)
    return html`<td class="narrow">${sign('warn', '!')} packets of ${narrow} bytes are lost</td>`;
  if (unverified.length > 0)
    return html`<td class="narrow">${sign('warn', '?')} ${unverified.join(', ')} not known</td>`;
  return html`<td class="open">${sign('good', '✔')} ${tried}<span class="hidden"> open</span></td>`;
}

/** The ways between hosts: rows are senders, columns receivers. */
export function ports(view: PortsView | undefined): Html | undefined {
  if (view === undefined) return undefined;
  const { tried, from, to, cells, open, blocked, unlisted, failed } = view;
  const count = blocked.length + unlisted;
  const about =
    `${counted(tried, 'way')} tried between hosts, ${count === 0 ? 'none blocked' : `${String(count)} blocked`}. ` +
    'Rows connect, columns listen; a number counts open ports.';
  const table = html`<div class="scroll" tabindex="0" role="group" aria-label="Ways between hosts">
    <table class="matrix">
      <thead>
        <tr>
          <th scope="col">from <span aria-hidden="true">↓</span> to <span aria-hidden="true">→</span></th>
          ${to.map((name) => html`<th scope="col">${said(name)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${from.map(
          (name, at) =>
            html`<tr>
              <th scope="row">${said(name)}</th>
              ${cells[at]!.map(cell)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
  return card(
    'ports',
    'Ways between hosts',
    about,
    html`${
      blocked.length === 0
        ? undefined
        : html`<ul class="ways">
            ${blocked.slice(0, LISTED).map((way) => html`<li>${sign('bad', '✖')} <strong>${said(way.from)}</strong> to <strong>${said(way.to)}</strong> ${said(way.port)}: ${said(way.how)}</li>`)}${count > Math.min(LISTED, blocked.length) ? html`<li>and ${count - Math.min(LISTED, blocked.length)} more</li>` : undefined}
          </ul>`
    }
    ${from.length === 0 ? undefined : table}
    ${open === 0 ? undefined : html`<p>${sign('good', '✔')} All ways of ${counted(open, `${from.length === 0 ? '' : 'other '}host`)} are open.</p>`}
    ${failed.map(({ host, reason }) => html`<p>${sign('warn', '?')} <strong>${said(host)}</strong> could not be surveyed: ${said(reason)}</p>`)}`,
  );
}
