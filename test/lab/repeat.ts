/**
 * `npm run test:lab -- [FILE…] [--group N] [--changed [COMMIT]] [--networks] [--repeat 10]`: the lab's tests but the long ones, or those in these
 * files, so many times one after the other. `--group`: one of CI's groups (which.ts). `--changed`: those that a change since that commit
 * (HEAD~1) must run, the long ones too, uncommitted files included. `--networks`: those of every kind of network, the long ones too. `--list`
 * only names them. Goes on after a failure; the last lines count the rounds of each test that failed. Exit 1 when one did. Other words are
 * vitest's.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filesFor, GROUPS, NETWORK_FILES } from './which.ts';

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

function usage(text: string): never {
  console.error(text);
  process.exit(2);
}

/** Takes an option and its value out of the words. `fallback`: its value where none follows it. */
function option(words: string[], name: string, fallback?: string): string | undefined {
  const at = words.indexOf(name);
  if (at === -1) return undefined;
  const hasValue = words[at + 1] !== undefined && !words[at + 1]!.startsWith('--');
  const [, value] = words.splice(at, hasValue ? 2 : 1);
  return value ?? fallback ?? usage(`${name} wants a value: npm run test:lab -- ${name} VALUE`);
}

function git(...args: readonly string[]): readonly string[] {
  const { status, stdout, stderr } = spawnSync('git', args, { encoding: 'utf8' });
  if (status !== 0) usage(`git ${args.join(' ')}: ${stderr.trim()}`);
  return stdout.split('\n').filter((line) => line !== '');
}

const rest = process.argv.slice(2);
const times = Number(option(rest, '--repeat') ?? 1);
if (!Number.isInteger(times) || times < 1) usage('--repeat wants how many times: npm run test:lab -- --repeat 10');

const group = option(rest, '--group');
const since = option(rest, '--changed', 'HEAD~1');
const isListed = rest.includes('--list');
const wantsNetworks = rest.includes('--networks');
if (wantsNetworks) rest.splice(rest.indexOf('--networks'), 1);
const inGroup =
  group === undefined ? [] : (GROUPS[Number(group) - 1] ?? usage(`--group: 1 to ${String(GROUPS.length)}`));
const changed =
  since === undefined
    ? []
    : filesFor([...git('diff', '--name-only', since), ...git('ls-files', '--others', '--exclude-standard')]);
const chosen = [...new Set([...inGroup, ...changed, ...(wantsNetworks ? NETWORK_FILES : [])])].map((file) =>
  join('test/lab', file),
);
if (isListed || (since !== undefined && chosen.length === 0)) {
  console.log(chosen.length === 0 ? 'the change touches nothing that the lab tests' : chosen.join('\n'));
  process.exit(0);
}
const projects = ['core', 'lab*', ...(changed.length > 0 || wantsNetworks ? ['long'] : [])].flatMap((one) => [
  '--project',
  one,
]);
const words = [...rest, ...chosen];

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
  const { status, signal } = spawnSync('npx', ['vitest', 'run', ...projects, ...reporters, ...words], {
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
