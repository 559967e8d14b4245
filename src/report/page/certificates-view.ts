import { daysLeft, RENEWED_AT_DAYS } from '../../shell/expiry.ts';
import { hostList } from '../host-list.ts';
import type { RunRecord } from '../record/line.ts';
import { byKey } from './by-key.ts';
import { lineOf } from './line-of.ts';

/** Certificates of the same hosts that end on the same day, or in the same month where there are many. */
export interface CertificateView {
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
  /** Where today is, 0 to 1: what has expired stands before it. */
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
