import { daysLeft, RENEWED_AT_DAYS } from '../../certificates/validity.value.ts';
import type { RunRecord } from '../record/line.ts';
import { hostList } from '../text.ts';
import { badge, byKey, card, html, type Html, lineOf, moment, percent, said, sign } from './html.ts';

/** Certificates of the same hosts that end on the same day, or in the same month where there are many. */
interface CertificateView {
  readonly names: string;
  readonly hosts: string;
  /** `2027-11-24`, or `2027-11-02 … 2027-11-24`. */
  readonly day: string;
  /** Whole days that the first of them had left when they were read; negative: expired. */
  readonly days: number;
  readonly state: 'expired' | 'soon' | 'valid';
  readonly renewedBy: string;
  /** Its place on the axis, 0 to 1. */
  readonly share: number;
}

/** The certificates of a cluster on an axis of time, which is logarithmic: most end in a year, authorities in ten. */
export interface CertificatesView {
  /** Soonest end first. */
  readonly certificates: readonly CertificateView[];
  readonly ticks: readonly { readonly share: number; readonly label: string }[];
  /** The place of today, 0 to 1: expired certificates stand before it. */
  readonly now: number;
  /** When they were read, ISO 8601. */
  readonly time: string;
  readonly unknown: readonly { readonly host: string; readonly message: string }[];
}

const TICKS: readonly (readonly [days: number, label: string])[] = [
  [30, '30 days'],
  [90, '90 days'],
  [365, '1 year'],
  [1095, '3 years'],
  [3650, '10 years'],
  [36500, '100 years'],
];

/** More rows than these are by month. */
const ROWS = 12;

/** The part of the axis before now, if something has expired. */
const BEFORE = 0.12;

const scale = (days: number): number => Math.log1p(Math.max(0, days) / 5);

type Read = NonNullable<ReturnType<typeof lineOf<'certificates-observed'>>>['certificates'];

/** Certificates that the same hosts have, that the same one renews, and that end on about the same day. */
interface Group {
  readonly names: string;
  readonly hosts: string;
  readonly first: Read[number];
  readonly last: Read[number];
}

/** Groups whose ends are equal in their first so many characters: 10 for the day, 7 for the month. */
function groupsOf(all: Read, characters: number): readonly Group[] {
  const endOf = ({ expires, renewedBy }: Read[number]): readonly string[] => [expires.slice(0, characters), renewedBy];
  const same = byKey(all, (one) => JSON.stringify([one.name, ...endOf(one)]));
  const each = [...same.values()].map((group) => {
    const inOrder = group.toSorted((a, b) => a.expires.localeCompare(b.expires));
    const hosts = hostList([...new Set(group.map(({ host }) => host))]);
    return { first: inOrder[0]!, last: inOrder.at(-1)!, hosts };
  });
  const together = byKey(each, ({ first, last, hosts }) =>
    JSON.stringify([...endOf(first), first.expires.slice(0, 10), last.expires.slice(0, 10), hosts]),
  );
  return [...together.values()].map((group) => ({
    ...group[0]!,
    names: group.map(({ first }) => first.name).join(', '),
  }));
}

/** The certificates that were read; undefined: none were. Pure. */
export function certificatesOf(record: RunRecord): CertificatesView | undefined {
  const line = lineOf(record, 'certificates-observed');
  if (line === undefined || line.certificates.length + line.unknown.length === 0) return undefined;
  const nowMs = Date.parse(line.time);
  const byDay = groupsOf(line.certificates, 10);
  const ends = (byDay.length > ROWS ? groupsOf(line.certificates, 7) : byDay).map((group) => ({
    ...group,
    days: daysLeft(Date.parse(group.first.expires), nowMs),
  }));
  const now = ends.some(({ days }) => days < 0) ? BEFORE : 0;
  const most = Math.max(30, ...ends.map(({ days }) => days));
  const shareOf = (days: number): number => (days < 0 ? now / 2 : now + (0.97 - now) * (scale(days) / scale(most)));
  return {
    certificates: ends
      .toSorted((a, b) => a.days - b.days)
      .map(({ names, hosts, first, last, days }) => ({
        names,
        hosts,
        day: [...new Set([first, last].map(({ expires }) => expires.slice(0, 10)))].join(' … '),
        days,
        state: days < 0 ? 'expired' : days <= RENEWED_AT_DAYS ? 'soon' : 'valid',
        renewedBy: first.renewedBy,
        share: shareOf(days),
      })),
    ticks: TICKS.filter(([days]) => days <= most * 1.05).map(([days, label]) => ({ share: shareOf(days), label })),
    now,
    time: line.time,
    unknown: line.unknown,
  };
}

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
