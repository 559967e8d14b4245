/**
 * `npm run test:lab -- [FILE…] [--repeat 10]`: the lab's tests, or those in these files, so many times one after the other.
 * Goes on after a failure; the last lines count the rounds of each test that failed. Exit 1 when one did. Other words are
 * vitest's.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What is read of vitest's report. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

const words = process.argv.slice(2);
const at = words.indexOf('--repeat');
const times = at === -1 ? 1 : Number(words[at + 1]);
if (!Number.isInteger(times) || times < 1) {
  console.error('--repeat wants how many times: npm run test:lab -- --repeat 10');
  process.exit(2);
}
const rest = words.filter((_, index) => at === -1 || (index !== at && index !== at + 1));

/** Tests that failed, and files of which no test could run. */
function failuresOf({ testResults }: Report): readonly string[] {
  return testResults.flatMap(({ name, status, assertionResults }) => {
    const failed = assertionResults.filter((one) => one.status === 'failed').map(({ fullName }) => fullName);
    const file = name.slice(name.lastIndexOf('/') + 1);
    if (failed.length > 0) return failed.map((one) => `${file}: ${one}`);
    return status === 'failed' ? [`${file}: could not run`] : [];
  });
}

const folder = mkdtempSync(join(tmpdir(), 'kbuild-repeat-'));
const report = join(folder, 'report.json');
const failures = new Map<string, number>();
let clean = 0;
for (let round = 1; round <= times; round++) {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const started = performance.now();
  rmSync(report, { force: true });
  const { status, signal } = spawnSync('npx', ['vitest', 'run', '--project', 'lab*', ...reporters, ...rest], {
    stdio: 'inherit',
  });
  if (signal !== null) break;
  const failed = ((): readonly string[] => {
    try {
      return failuresOf(JSON.parse(readFileSync(report, 'utf8')) as Report);
    } catch {
      return ['vitest wrote no report'];
    }
  })();
  const all = failed.length === 0 && status !== 0 ? [`vitest ended with ${String(status)}`] : failed;
  if (all.length === 0) clean += 1;
  for (const one of all) failures.set(one, (failures.get(one) ?? 0) + 1);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`round ${String(round)} of ${String(times)}: ${all.length === 0 ? 'ok' : all.join('; ')} (${seconds} s)`);
}
rmSync(folder, { recursive: true });
for (const [name, count] of failures) console.log(`failed in ${String(count)} of ${String(times)}: ${name}`);
console.log(`${String(clean)} of ${String(times)} rounds without a failure`);
process.exitCode = clean === times ? 0 : 1;
