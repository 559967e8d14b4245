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
