import { counted, hostList, lasting } from '../text.ts';
import { html, type Html } from './html.ts';
import { badge, card, percent, said, toneOf } from './parts.ts';
import type { PhaseView } from './phase-view.ts';
import type { ReportView } from './view.ts';
import { clock } from './words.ts';

/** The longest host of a phase, and what the others waited for. */
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
export function phases({ phases: all, longest, head }: ReportView): Html {
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
