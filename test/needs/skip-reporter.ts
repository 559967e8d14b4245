/**
 * A reporter of vitest: which tests were skipped, why, and the one command that installs what is missing.
 *
 *     KBUILD_SKIPPED=FILE vitest run --reporter=default --reporter=./test/needs/skip-reporter.ts
 *
 * FILE gets one JSON document, `Skipped` below, also when nothing was skipped. Without KBUILD_SKIPPED the summary is printed at the end:
 *
 *     12 tests skipped: needs mandoc (not installed)
 *     3 tests skipped: needs root (found ada)
 *     To run them: sudo apt-get install -y --no-install-recommends mandoc
 *
 * `mergedSkips` and `skipSummary` make one summary of several FILEs.
 */
import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import { installCommand, unmet, type Need, type ProgramName } from './table.ts';

/** What KBUILD_SKIPPED's file holds. */
export interface Skipped {
  readonly skipped: readonly SkippedTest[];
  /** Installs all programs that skipped tests need; missing where no package helps. */
  readonly install?: string;
}

export interface SkippedTest {
  /** With the names of its suites. */
  readonly name: string;
  /** From the root of the repository. */
  readonly file: string;
  /** `needs mandoc (not installed)`; several are joined by `, `. */
  readonly reason: string;
  /** Programs to be installed for this test. */
  readonly programs: readonly ProgramName[];
}

function skippedOf(module: TestModule): readonly SkippedTest[] {
  return [...module.children.allTests('skipped')].flatMap((test) => {
    const unmetNeeds = test.tags.map((tag) => unmet(tag as Need)).filter((one) => one !== undefined);
    if (unmetNeeds.length === 0) return [];
    return [
      {
        name: test.fullName,
        file: module.relativeModuleId,
        reason: unmetNeeds.map(({ reason }) => reason).join(', '),
        programs: unmetNeeds.flatMap(({ program }) => (program === undefined ? [] : [program])),
      },
    ];
  });
}

/** One document of several, or of these tests. */
export function mergedSkips(parts: readonly Pick<Skipped, 'skipped'>[]): Skipped {
  const skipped = parts.flatMap((part) => part.skipped);
  const install = installCommand([...new Set(skipped.flatMap(({ programs }) => programs))].toSorted());
  return { skipped, ...(install === undefined ? {} : { install }) };
}

/** Its lines: how many tests each reason skipped, the most frequent first, then the command. Empty when none was skipped. */
export function skipSummary({ skipped, install }: Skipped): readonly string[] {
  const counts = new Map<string, number>();
  for (const { reason } of skipped) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [
    ...[...counts]
      .toSorted(([, a], [, b]) => b - a)
      .map(([reason, count]) => `${String(count)} ${count === 1 ? 'test' : 'tests'} skipped: ${reason}`),
    ...(install === undefined ? [] : [`To run them: ${install}`]),
  ];
}

// oxlint-disable-next-line no-restricted-exports -- vitest loads reporters so
export default class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const document = mergedSkips([{ skipped: modules.flatMap(skippedOf) }]);
    const file = process.env['KBUILD_SKIPPED'];
    if (file !== undefined) writeFileSync(file, `${JSON.stringify(document)}\n`);
    else for (const line of skipSummary(document)) console.log(line);
  }
}
