import { hostList } from '../text.ts';
import type { Row, Slice } from './host-row.ts';
import { card, clock, html, type Html, percent, said, sign, toneOf } from './html.ts';
import type { PhaseView } from './phase-view.ts';
import type { Band, TimelineView } from './timeline-view.ts';

/** Heights of lanes, in px. */
const BAND = 20;
const ROW = 24;
const LANE = 14;

/** Nothing is drawn narrower than this share of the run. */
const LEAST = 0.0012;

/** x and width of what lasted, in the run's time. */
const place = (
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  totalMs: number,
): readonly [string, string] => [percent(fromMs, totalMs), percent(Math.max(toMs - fromMs, totalMs * LEAST), totalMs)];

/** The curve of how many hosts of a crowd are at work. */
function curve({ levels = [], number, text }: Slice, x: string, width: string, height: number): Html {
  const top = Math.max(0.01, ...levels);
  const points = levels.map((level, at) => `${String(at)} ${(10 - (level / top) * 9.4).toFixed(1)} H${String(at + 1)}`);
  return html`<svg
    class="s crowd ${toneOf(number)}"
    tabindex="-1"
    role="img"
    x="${x}"
    width="${width}"
    y="2"
    height="${height - 4}"
    viewBox="0 0 ${levels.length} 10"
    preserveAspectRatio="none"
  >
    <title>${text}</title>
    <rect width="100%" height="100%" />
    <path d="M0 10 V${points.join(' V')} V10 Z" />
  </svg>`;
}

function slice(one: Slice, totalMs: number, lanes: number): Html {
  const [x, width] = place(one, totalMs);
  const height = heightOf(lanes);
  if (one.what === 'crowd') return curve(one, x, width, height);
  const each = height / lanes;
  const inset = one.what === 'phase' ? 2 : 5;
  const marks = [one.end === 'done' ? '' : one.end, one.isUnplanned ? 'unplanned' : ''].filter((mark) => mark !== '');
  const names = ['s', one.what, toneOf(one.number), ...marks].join(' ');
  const y = one.lane * each + inset;
  return html`<rect
      class="${names}"
      tabindex="-1"
      role="img"
      x="${x}"
      width="${width}"
      y="${y.toFixed(1)}"
      height="${(each - 2 * inset).toFixed(1)}"
      ><title>${one.text}</title></rect
    >${one.isRestart ? html`<svg class="restart" x="${x}" y="${y.toFixed(1)}" overflow="visible" aria-hidden="true"><path d="M-4 -5h8l-4 6z" /></svg>` : undefined}`;
}

const heightOf = (lanes: number): number => (lanes === 1 ? ROW : lanes * LANE);

function row({ label, detail, heading, lanes, slices, failedMs }: Row, totalMs: number): Html {
  const height = heightOf(lanes);
  return html`${heading === undefined ? undefined : html`<h3 class="heading">${heading}</h3>`}
    <div class="row">
      <p class="who"><strong>${said(label)}</strong> <span>${detail}</span></p>
      <svg class="bars" height="${height}" role="group" aria-label="${label}">
        ${slices.map((one) => slice(one, totalMs, lanes))}${
          failedMs === undefined
            ? undefined
            : html`<svg
                class="cross"
                x="${percent(failedMs, totalMs)}"
                y="${height / 2}"
                overflow="visible"
                aria-hidden="true"
              >
                <circle r="8" />
                <path d="M-3.5 -3.5l7 7m0 -7l-7 7" />
              </svg>`
        }
      </svg>
    </div> `;
}

function band({ number, title, fromMs, toMs, lane }: Band, totalMs: number): Html {
  const [x, width] = place({ fromMs, toMs }, totalMs);
  const label = number === 0 ? title : `${String(number)} ${title}`;
  return html`<svg class="band ${toneOf(number)}" x="${x}" width="${width}" y="${lane * BAND}" height="${BAND - 2}">
    <title>${label}: from ${clock(fromMs)} to ${clock(toMs)}</title>
    <rect width="100%" height="100%" rx="3" />
    ${number === 0 && (toMs - fromMs) / totalMs < 0.1 ? undefined : html`<text x="5" y="13">${label}</text>`}
  </svg>`;
}

/** The axis, its grid for every level of zoom, and the moments of failure and interruption across all rows. */
function grid({ ticks, totalMs, failedMs, interruptedMs }: TimelineView): Html {
  const line = (ms: number, name: string): Html =>
    html`<line class="${name}" x1="${percent(ms, totalMs)}" x2="${percent(ms, totalMs)}" y1="0" y2="100%" />`;
  return html`<svg class="grid" aria-hidden="true">
    ${ticks.map((level, at) => html`<g class="ticks t${at}">${level.map((ms) => line(ms, 'tick'))}</g>`)}${interruptedMs === undefined ? undefined : line(interruptedMs, 'interrupted')}${failedMs === undefined ? undefined : line(failedMs, 'failed')}
  </svg>`;
}

function axis({ ticks, totalMs, failedMs, interruptedMs }: TimelineView): Html {
  const label = (ms: number, text: string, name: string): Html => {
    const end = ms / totalMs > 0.6 && name !== '' ? ' end' : '';
    return html`<text class="${name}${end}" x="${percent(ms, totalMs)}" y="11">${text}</text>`;
  };
  const moments = html`${interruptedMs === undefined ? undefined : label(interruptedMs, '■ interrupted', 'interrupted')}${failedMs === undefined ? undefined : label(failedMs, '✖ first failure', 'failed')}`;
  const hasMoments = failedMs !== undefined || interruptedMs !== undefined;
  return html`<div class="row axis">
      <p class="who"></p>
      <svg class="bars" height="16" aria-hidden="true">
        ${ticks.map((level, at) => html`<g class="ticks t${at}">${level.filter((ms) => ms / totalMs < 0.97).map((ms) => label(ms, clock(ms), ''))}</g>`)}
      </svg>
    </div>
    ${
      hasMoments
        ? html`<div class="row axis">
            <p class="who"></p>
            <svg
              class="bars"
              height="16"
              role="img"
              aria-label="${[interruptedMs === undefined ? '' : `interrupted at ${clock(interruptedMs)}`, failedMs === undefined ? '' : `first failure at ${clock(failedMs)}`].filter((part) => part !== '').join(', ')}"
            >
              ${moments}
            </svg>
          </div>`
        : undefined
    }`;
}

/** What a shape of the timeline stands for. */
const sample = (shape: Html, meaning: string): Html =>
  html`<li><svg class="key" aria-hidden="true" width="22" height="14">${shape}</svg> ${meaning}</li>`;

const legend = (phases: readonly PhaseView[]): Html =>
  html`<ul class="legend">
    ${phases.map(({ number, title }) => html`<li><span class="swatch ${toneOf(number)}" aria-hidden="true">${number}</span> ${title}</li>`)}
    ${sample(html`<rect class="phase shape p1" width="22" height="14" />`, 'observes, compares')}
    ${sample(html`<rect class="change shape p1" width="22" height="14" />`, 'changes')}
    ${sample(html`<rect class="wait shape p0" width="22" height="14" />`, 'waits')}
    ${sample(html`<svg class="restart" x="11" y="7" overflow="visible"><path d="M-4 -5h8l-4 6z" /></svg>`, 'restarts')}
    <li>${sign('bad', '✖')} failed</li>
  </ul>`;

const TIMELINE_LABEL =
  'Timeline. Plus and minus zoom, arrow keys move from bar to bar; ' +
  'the table of phases below says the same in words.';

/** The timeline: hosts by time, or for many hosts the phases and how long hosts took in them. */
export function timeline(view: TimelineView, phases: readonly PhaseView[]): Html {
  const { rows, bands, lanes, totalMs, form, idle } = view;
  const about =
    form === 'hosts'
      ? 'Each row is a host, from the start of the run to its end.'
      : 'Many hosts: each phase has a row for the hosts that took about as long (the curve is how many of them ' +
        'were at work), then its slowest hosts and those that failed.';
  const tools = html`<div class="tools" hidden>
    <button type="button" data-zoom-to="out" aria-label="Zoom out">−</button
    ><button type="button" data-zoom-to="in" aria-label="Zoom in">+</button
    ><button type="button" data-zoom-to="all">Whole run</button>
    <span class="keys">Keys: <kbd>+</kbd> <kbd>−</kbd> <kbd>0</kbd> zoom, arrows move from bar to bar</span>
  </div>`;
  return card(
    'timeline',
    'Timeline',
    about,
    html`${tools}
      <div class="timeline" tabindex="0" role="group" aria-label="${TIMELINE_LABEL}">
        <div class="rows">
          ${grid(view)}
          <div class="row phases-row">
            <p class="who"><strong>Phases</strong></p>
            <svg class="bars" height="${lanes * BAND}" role="group" aria-label="Phases">
              ${bands.map((one) => band(one, totalMs))}
            </svg>
          </div>
          ${axis(view)} ${rows.map((one) => row(one, totalMs))}
        </div>
      </div>
      <p class="detail" id="detail" hidden>Point at a bar to read what it was.</p>
      ${legend(phases)}
      ${idle.length === 0 ? undefined : html`<p class="idle">No phase took ${said(hostList(idle))}.</p>`}`,
  );
}
