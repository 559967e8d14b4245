/**
 * `npm test`: every part after the other, its time printed, and one closing line that counts all tests.
 * Ends at the first part that fails. `--only a,b` runs some parts.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
}

const folder = mkdtempSync(join(tmpdir(), 'kbuild-test-'));
/** `project`: also a pattern of several. */
const vitest = (project: string, report = project): readonly string[] => [
  'vitest',
  'run',
  '--project',
  project,
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${join(folder, `${report}.json`)}`,
];
const PARTS: Readonly<Record<string, readonly string[]>> = {
  packages: ['bash', 'test/packages.sh'],
  // What the lab lacks is told now, not after half an hour.
  machine: ['npm', 'run', '--silent', 'lab', '--', 'check'],
  build: ['npm', 'run', '--silent', 'build'],
  types: ['npm', 'run', '--silent', 'typecheck'],
  lint: ['npm', 'run', '--silent', 'lint'],
  unit: ['npx', ...vitest('unit'), '--coverage'],
  integration: ['npx', ...vitest('integration')],
  lab: ['npx', ...vitest('lab*', 'lab')],
};

const only = process.argv.includes('--only')
  ? process.argv[process.argv.indexOf('--only') + 1]!.split(',')
  : Object.keys(PARTS);
const counts = { passed: 0, failed: 0, skipped: 0 };
const times: string[] = [];
let failed: string | undefined;
for (const part of only) {
  const [program, ...rest] = PARTS[part]!;
  console.log(`\n=== ${part}`);
  const started = performance.now();
  const { status } = spawnSync(program!, rest, { stdio: 'inherit' });
  times.push(`${part} ${((performance.now() - started) / 1000).toFixed(0)} s`);
  try {
    const report = JSON.parse(readFileSync(join(folder, `${part}.json`), 'utf8')) as Report;
    counts.passed += report.numPassedTests;
    counts.failed += report.numFailedTests;
    counts.skipped += report.numPendingTests;
  } catch {
    // Parts without tests write no report; one whose runner crashed has a status.
  }
  if (status !== 0) {
    failed = part;
    break;
  }
}
rmSync(folder, { recursive: true, force: true });
console.log(`\ntimes: ${times.join(', ')}`);
if (failed !== undefined) console.log(`failed: ${failed}`);
console.log(
  `${String(counts.passed)} passed, ${String(counts.failed + (failed !== undefined && counts.failed === 0 ? 1 : 0))} failed, ${String(counts.skipped)} skipped`,
);
process.exitCode = failed === undefined ? 0 : 1;
