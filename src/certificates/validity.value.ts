const DAY_MS = 24 * 60 * 60_000;

/**
 * kbuild renews a certificate or a key, or warns about it, at this many days before its end: the default of
 * `certificates.renewBefore`.
 */
export const RENEWED_AT_DAYS = 30;

/** The same in ms. */
export const RENEWED_BEFORE_MS = RENEWED_AT_DAYS * DAY_MS;

/** Whole days until an end, both times in ms; negative: it has passed. */
export const daysLeft = (endMs: number, nowMs: number): number => Math.floor((endMs - nowMs) / DAY_MS);

/** A period of validity, ms since the epoch. */
export interface Validity {
  readonly beginsMs: number;
  readonly endsMs: number;
}

/**
 * True if a certificate is due for renewal: at most `beforeMs` are left, or a third of its lifetime if that is less
 * (cert-manager's default). Otherwise every run would renew a certificate whose lifetime is shorter than `beforeMs`.
 */
export const isDue = ({ beginsMs, endsMs }: Validity, nowMs: number, beforeMs: number): boolean =>
  endsMs - nowMs <= Math.min(beforeMs, (endsMs - beginsMs) / 3);

/** The remaining validity, as text after "found": `12 days left`, `40 minutes left`, `expired`. */
export function leftText(endsMs: number, nowMs: number): string {
  if (endsMs < nowMs) return 'expired';
  const days = daysLeft(endsMs, nowMs);
  return days > 0 ? `${String(days)} days left` : `${String(Math.floor((endsMs - nowMs) / 60_000))} minutes left`;
}
