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
