import { counted } from './host-list.ts';

/** How many hosts at work are shown. */
const SHOWN = 5;

/** A few lines for a phase with more hosts than a screen has lines. */
interface Crowd {
  readonly start: (host: string) => void;
  readonly show: (host: string, text: string) => void;
  readonly end: (host: string, how: 'well' | 'failed') => void;
  /** `Join workers: 137 of 200 hosts, 2 failed`. */
  readonly title: () => string;
  /** What the first few hosts at work do. */
  readonly lines: () => readonly string[];
}

/** Follows the hosts of a phase. */
export function crowd(title: string, count: number): Crowd {
  const working = new Map<string, string>();
  let ended = 0;
  let failed = 0;
  return {
    start: (host) => void working.set(host, host),
    show: (host, text) => void working.set(host, `${host}: ${text}`),
    end: (host, how) => {
      working.delete(host);
      ended += 1;
      if (how === 'failed') failed += 1;
    },
    title: () =>
      `${title}: ${ended === count ? counted(count, 'host') : `${String(ended)} of ${counted(count, 'host')}`}${failed === 0 ? '' : `, ${String(failed)} failed`}`,
    lines: () => {
      const all = [...working.values()];
      const more = all.length - SHOWN;
      return more > 0 ? [...all.slice(0, SHOWN), `and ${counted(more, 'host')} more at work`] : all;
    },
  };
}
