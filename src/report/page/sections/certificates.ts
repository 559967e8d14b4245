import { html, type Html } from '../html.ts';
import type { CertificatesView, CertificateView } from '../certificates-view.ts';
import { moment } from '../words.ts';
import { percent } from './shape.ts';
import { badge, card, said, sign } from './signs.ts';

/** Rows beyond so many are folded. */
const SHOWN = 15;

const TONES = { expired: 'bad', soon: 'warn', valid: 'good' } as const;

function left({ state, days }: CertificateView): Html {
  if (state === 'expired') return badge('bad', '✖', 'expired');
  const text = `${String(days)} ${days === 1 ? 'day' : 'days'}`;
  return state === 'soon' ? badge('warn', '!', text) : html`<span>${text}</span>`;
}

function row(one: CertificateView, now: number): Html {
  const { names, hosts, day, state, renewedBy, share } = one;
  const [x, width] = [Math.min(now, share), Math.abs(share - now)];
  return html`<li>
    <p class="who"><strong>${said(names)}</strong> <span>${said(hosts)}</span></p>
    <svg class="bars" height="18" aria-hidden="true">
      <line class="today" x1="${percent(now, 1)}" x2="${percent(now, 1)}" y1="0" y2="100%" />
      <rect class="life ${TONES[state]}" x="${percent(x, 1)}" width="${percent(width, 1)}" y="7" height="4" rx="2" />
      <circle class="life ${TONES[state]}" cx="${percent(share, 1)}" cy="9" r="5" />
    </svg>
    <p class="end">
      ${left(one)} <span class="day">${day}</span>
      <span class="by">${renewedBy === '' ? '' : `renewed by ${renewedBy}`}</span>
    </p>
  </li>`;
}

const list = (all: readonly CertificateView[], now: number): Html =>
  html`<ul class="certificates">
    ${all.map((one) => row(one, now))}
  </ul>`;

/** The certificates, each with a bar from now to its end. */
export function certificates(view: CertificatesView | undefined): Html | undefined {
  if (view === undefined) return undefined;
  const { ticks, now, time, unknown } = view;
  const folded = view.certificates.slice(SHOWN);
  const about = `As read at ${moment(time)}. The axis is logarithmic.`;
  const marks = [{ share: now, label: 'now' }, ...ticks];
  return card(
    'certificates',
    'Certificates',
    about,
    html`<div class="axis-row" aria-hidden="true">
        <svg class="bars" height="16">
          ${marks.map(({ share, label }, at) => html`<text class="${share > 0.9 ? 'end' : ''} ${at % 2 === 1 ? 'odd' : ''}" x="${percent(share, 1)}" y="12">${label}</text>`)}
        </svg>
      </div>
      ${list(view.certificates.slice(0, SHOWN), now)}
      ${
        folded.length === 0
          ? undefined
          : html`<details>
              <summary>${String(folded.length)} more, which end later</summary>
              ${list(folded, now)}
            </details>`
      }
      ${unknown.map(({ host, message }) => html`<p>${sign('warn', '?')} <strong>${said(host)}</strong> ${said(message)}</p>`)}`,
  );
}
