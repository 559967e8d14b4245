/** A worker that goes for good in the middle of a build: it is waited for as long as its job, and the others are finished without it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fresh } from '../fresh.ts';
import { kbuild, start } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['gocp1', 'gow1', 'gow2'];
const [cp, stays, goes] = HOSTS as [string, string, string];
const SOON_MS = 120_000;
/** How long a host is waited for that took a job with it. */
const PATIENCE_MS = 300_000;
let args: readonly string[];

beforeAll(async () => {
  ({ up: args } = await fresh('gone', HOSTS));
});

afterAll(() => lab.down(HOSTS));

test('the run does not wait for its lock, and ends with all others Ready', { timeout: 1_200_000 }, async () => {
  const running = start(args);
  await waitUntil('a job on it', SOON_MS, async () =>
    (await lab.inside(goes, "systemctl list-units --plain --no-legend 'kbuild-job-*' || :")).stdout.includes(
      'kbuild-job-',
    ),
  );
  await lab.kill([goes]);
  const from = performance.now();
  const seconds = (): string => ((performance.now() - from) / 1000).toFixed(0);
  await waitUntil('the cluster is founded meanwhile', SOON_MS, async () => {
    const known: Readonly<Record<string, boolean>> = await nodes(cp).catch(() => ({}));
    return cp in known;
  });
  console.log(`founded ${seconds()} s after it had gone`);
  const ran = await running.ended;
  console.log(`the run ended after ${seconds()} s: ${ran.stderr.trim().split('\n').slice(-6).join('\n')}`);
  expect(ran.code, ran.stderr).toBe(3);
  expect(ran.stderr).toContain(goes);
  expect(performance.now() - from).toBeLessThan(PATIENCE_MS + SOON_MS);
  expect(await nodes(cp)).toEqual({ [cp]: true, [stays]: true });
});

test('it comes back, and the same command finishes it alone', async () => {
  await lab.start([goes]);
  ok(await kbuild(...args));
  expect(await nodes(cp)).toEqual(Object.fromEntries(HOSTS.map((host) => [host, true])));
  unchanged(await kbuild(...args));
});
