import type { RecordLine, RunRecord } from '../record/line.ts';

/** Items by their key, in the order in which the keys first appear. */
export function byKey<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/**
 * Puts what overlaps in time into lanes below each other: the first lane that is free. In the order of their beginning.
 */
export function lanesOf(spans: readonly { readonly fromMs: number; readonly toMs: number }[]): {
  readonly lanes: readonly number[];
  readonly count: number;
} {
  const freeAt: number[] = [];
  const lanes = spans.map(({ fromMs, toMs }) => {
    const found = freeAt.findIndex((ms) => ms <= fromMs);
    const lane = found === -1 ? freeAt.length : found;
    freeAt[lane] = toMs;
    return lane;
  });
  return { lanes, count: Math.max(1, freeAt.length) };
}

type LineOf<Kind extends RecordLine['kind']> = Extract<RecordLine, { readonly kind: Kind }>;

/** All lines of a kind, in their order. */
export const linesOf = <const Kind extends RecordLine['kind']>(
  { lines }: RunRecord,
  kind: Kind,
): readonly LineOf<Kind>[] => lines.filter((line): line is LineOf<Kind> => line.kind === kind);

/** The last line of a kind, which replaces those before it; undefined: there is none. */
export const lineOf = <const Kind extends RecordLine['kind']>(
  record: RunRecord,
  kind: Kind,
): LineOf<Kind> | undefined => linesOf(record, kind).at(-1);

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Distances between ticks that people read easily, in ms. */
const STEPS: readonly number[] = [
  ...[100, 200, 500],
  ...[1, 2, 5, 10, 15, 20, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 20, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12, 24, 48, 96, 192].map((hours) => hours * HOUR),
];

/** How many ticks there are at most, at each level of zoom. */
const TICK_LEVELS = [4, 8, 16, 32, 64, 128] as const;

/** The ticks of an axis for each level of zoom, in ms since its start. */
export const ticksOf = (totalMs: number): readonly (readonly number[])[] =>
  TICK_LEVELS.map((most) => {
    const step = STEPS.find((candidate) => totalMs / candidate <= most) ?? totalMs;
    return Array.from({ length: Math.floor(totalMs / step) + 1 }, (_, index) => index * step);
  });

const two = (number: number): string => String(number).padStart(2, '0');

/** A time since the start of the run: `0:07`, `12:30`, `1:02:30`. */
export function clock(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return hours === 0 ? `${String(minutes)}:${two(rest)}` : `${String(hours)}:${two(minutes)}:${two(rest)}`;
}

/** `2026-11-24 22:08:44 UTC`; the text itself where it is no time. */
export const moment = (time: string): string =>
  Number.isNaN(Date.parse(time)) ? time : `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
