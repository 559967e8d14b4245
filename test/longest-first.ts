/** The order of test files: vitest's own knows no durations on a clean checkout, and the longest file would often begin last. */
import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take minutes, the longest first. The order of all others is vitest's. */
const LONGEST = ['life', 'upgrade', 'cluster', 'variants', 'windows', 'stacked', 'soak', 'certificates', 'secrets'].map(
  (name) => `${name}.test.ts`,
);

const rank = ({ moduleId }: TestSpecification): number => {
  const at = /[/]test[/]lab[/](?:core|scenarios)[/]/.test(moduleId) ? LONGEST.indexOf(basename(moduleId)) : -1;
  return at === -1 ? LONGEST.length : at;
};

/** Files that take minutes first, so that the others fill what is left beside them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
