/** Every run of a build is killed at the first change that it tells: the same command goes on from there, and nothing is left. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fresh } from '../fresh.ts';
import { eventsOf, kbuild, start, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok } from '../ok.ts';
import { nodes } from '../pods.ts';
import { leftoversOf } from '../soak-run.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['eccp1', 'ecw1'];
const [cp, worker] = HOSTS as [string, string];
const MOST_STARTS = 80;
const MINUTES_MS = 10 * 60_000;
let args: readonly string[];

beforeAll(async () => {
  ({ up: args } = await fresh('every-change', HOSTS));
});

afterAll(() => lab.down(HOSTS));

/** Starts kbuild, which lives until its end or until it tells a first change. */
async function upToAChange(): Promise<Ran> {
  const running = start([...args, '--json']);
  let over = false;
  void running.ended.then(() => (over = true));
  await waitUntil('a change, or the end', MINUTES_MS, () => over || running.printed().includes('"kind":"changed"'));
  running.kill('SIGKILL');
  return running.ended;
}

/** The changes that a run told, a line each; the last line of one that was killed may be torn. */
const changesOf = ({ stdout }: Ran): readonly string[] =>
  eventsOf({ stdout: stdout.slice(0, stdout.lastIndexOf('\n') + 1) }).flatMap((event) =>
    event.kind === 'changed' ? [`${event.host}: ${event.summary}`] : [],
  );

test('killed at a change in every run, the same command builds the cluster in the end, and makes no change twice', async () => {
  const from = performance.now();
  const made: string[] = [];
  let kills = 0;
  let ran = await upToAChange();
  for (; ran.code !== 0 && kills < MOST_STARTS; ran = await upToAChange()) {
    expect(ran.code, `${ran.stdout}\n${ran.stderr}`).toBeNull();
    kills += 1;
    made.push(...changesOf(ran));
  }
  ok(ran);
  console.log(
    `killed ${String(kills)} times in ${((performance.now() - from) / 1000).toFixed(0)} s:\n${made.join('\n')}`,
  );
  expect(kills).toBeGreaterThan(10);
  expect(made).toEqual([...new Set(made)]);
  expect(ok(await kbuild(...args)).stdout).toContain('nothing to do');
  expect(await nodes(cp)).toEqual({ [cp]: true, [worker]: true });
  expect(await leftoversOf(HOSTS)).toEqual([]);
});
