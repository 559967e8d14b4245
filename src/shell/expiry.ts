const DAY_MS = 24 * 60 * 60_000;

/** A certificate or a key with this many days left, or fewer, is renewed or warned of. */
export const RENEWED_AT_DAYS = 30;

/** Whole days until an end, both times in ms; negative: it has passed. */
export const daysLeft = (endMs: number, nowMs: number): number => Math.floor((endMs - nowMs) / DAY_MS);
