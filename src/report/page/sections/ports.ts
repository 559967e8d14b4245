import { counted } from '../../host-list.ts';
import { html, type Html } from '../html.ts';
import type { Cell, PortsView } from '../ports-view.ts';
import { card, said, sign } from './signs.ts';

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
  const about = `${counted(tried, 'way')} tried between hosts, ${count === 0 ? 'none blocked' : `${String(count)} blocked`}. Rows connect, columns listen; a number counts open ports.`;
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
