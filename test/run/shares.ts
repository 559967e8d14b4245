/** What each scenario of the lab's core may take of the whole: one that becomes twice as slow fails `npm test`. */
import { readFileSync } from 'node:fs';
import { nameOf } from '../lab/which.ts';

/** Share of each file in the sum of all, as measured (docs/contributing.md). A busy machine slows all of them, so shares stay. */
export const SHARES: Readonly<Record<string, number>> = {
  life: 0.39,
  upgrade: 0.38,
  'dual-stack': 0.13,
  windows: 0.1,
};

/** Seconds that each test file took, by its name. */
export type Seconds = Readonly<Record<string, number>>;

/** A line for each scenario that took twice its share or more, has none, or did not run. */
export function sharesExceeded(took: Seconds, shares: Readonly<Record<string, number>> = SHARES): readonly string[] {
  const sum = Object.values(took).reduce((all, seconds) => all + seconds, 0);
  const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
  return [...new Set([...Object.keys(shares), ...Object.keys(took)])].flatMap((name) => {
    const [seconds, share] = [took[name], shares[name]];
    if (share === undefined) return [`core/${name}: has no share: add it to test/run/shares.ts`];
    if (seconds === undefined) return [`core/${name}: did not run`];
    const found = seconds / sum;
    if (found < 2 * share) return [];
    return [
      `core/${name}: took ${seconds.toFixed(0)} s, ${percent(found)} of the core (noted ${percent(share)}). Find what became slow, or note its new share in test/run/shares.ts`,
    ];
  });
}

/** What is read of vitest's report. */
interface Report {
  readonly testResults: readonly { readonly name: string; readonly startTime: number; readonly endTime: number }[];
}

/** Seconds of each file in a report of vitest, by its name. */
export function secondsOf(report: string): Seconds {
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  return Object.fromEntries(
    testResults.map(({ name, startTime, endTime }) => [nameOf(name), Math.max(0, endTime - startTime) / 1000]),
  );
}
