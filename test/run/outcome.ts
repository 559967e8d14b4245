/** How the parts of `npm test` ended, and what is said of it. */

import type { SkippedTest } from '../needs/skip-reporter.ts';
import type { ProgramName } from '../needs/table.ts';

/** A test, or a part, that this machine cannot run. */
export type Skip = Pick<SkippedTest, 'name' | 'reason' | 'programs'>;

/** How a part ended. */
export interface Outcome {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly skips: readonly Skip[];
  readonly seconds: number;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
const plural = (count: number, noun: string): string => `${String(count)} ${noun}${count === 1 ? '' : 's'}`;

/**
 * The last lines of `npm test`: what was left out and why, what was not begun, the time of each part, and the closing line. `install`
 * makes the command that installs programs, undefined where no package helps.
 */
export function closing(
  outcomes: readonly Outcome[],
  notBegun: readonly string[],
  install: (programs: readonly ProgramName[]) => string | undefined,
): readonly string[] {
  const skips = outcomes.flatMap((outcome) => outcome.skips);
  const reasons = [...new Set(skips.map(({ reason }) => reason))];
  const command = install([...new Set(skips.flatMap(({ programs }) => programs))].toSorted());
  const failed = outcomes.filter((outcome) => outcome.failed > 0).map(({ name }) => name);
  return [
    ...(reasons.length === 0 ? [] : ['left out:']),
    ...reasons.map((reason) => {
      const names = skips.filter((skip) => skip.reason === reason).map(({ name }) => name);
      return `  ${reason}: ${names.length === 1 ? names[0]! : plural(names.length, 'test')}`;
    }),
    ...(command === undefined ? [] : [`to run them: ${command}`]),
    `times: ${outcomes.map(({ name, seconds }) => `${name} ${seconds.toFixed(0)} s`).join(', ')}`,
    ...(failed.length === 0 ? [] : [`failed: ${failed.join(', ')}`]),
    ...(notBegun.length === 0 ? [] : [`not run, because something failed before: ${notBegun.join(', ')}`]),
    `${String(sum(outcomes.map(({ passed }) => passed)))} passed, ${String(sum(outcomes.map((one) => one.failed)))} failed, ${String(skips.length)} skipped`,
  ];
}
