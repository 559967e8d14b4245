/** The order of test files: vitest's own knows no durations on a clean checkout, and the longest file would often begin last. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take minutes, the longest first. The order of all others is vitest's. */
const LONGEST = ['life', 'upgrade', 'cluster', 'variants', 'windows', 'stacked', 'soak', 'certificates', 'secrets'].map(
  (name) => `${name}.test.ts`,
);

/** Tests that run programs say so by a need or by the import. */
const RUNS_PROGRAMS = /^\/\/ @module-tag |'node:child_process'/m;

const isOfLab = (file: string): boolean => file.includes('/test/lab/');

/**
 * Files that run programs come first among the unit tests: Node copies the page tables of a worker for each program,
 * which takes 1 ms of CPU at 50 MB and 15 ms at the 500 MB that a worker has once it has loaded all of src.
 */
function rank({ moduleId }: TestSpecification): number {
  if (!isOfLab(moduleId)) return RUNS_PROGRAMS.test(readFileSync(moduleId, 'utf8')) ? 0 : 1;
  const at = /[/](?:core|scenarios)[/]/.test(moduleId) ? LONGEST.indexOf(basename(moduleId)) : -1;
  return at === -1 ? LONGEST.length : at;
}

/** Files that take minutes first, so that the others fill what is left beside them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranked = (await super.sort(files)).map((file) => ({ file, rank: rank(file) }));
    return ranked.toSorted((a, b) => a.rank - b.rank).map(({ file }) => file);
  }
}
