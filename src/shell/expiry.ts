const DAY_MS = 24 * 60 * 60_000;

/** kbuild renews a certificate or a key, or warns about it, at this many days before its end. */
export const RENEWED_AT_DAYS = 30;

/** Whole days until an end, both times in ms; negative: it has passed. */
export const daysLeft = (endMs: number, nowMs: number): number => Math.floor((endMs - nowMs) / DAY_MS);
