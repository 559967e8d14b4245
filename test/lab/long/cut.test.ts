/** The connection is cut while apt-get works, twenty times, each at another moment: nothing is done twice, nothing is torn. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { aptRuns, watchApt } from '../apt-alone.ts';
import { fresh } from '../fresh.ts';
import { kbuild, start } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { random } from '../random.ts';
import { cutConnections } from '../soak-faults.ts';
import { waitUntil } from '../wait-until.ts';

const HOST = 'ctcp1';
const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1);
const SOON_MS = 120_000;
/** About as long as apt-get takes to install. */
const WITHIN_MS = 3000;

const inside = async (command: string): Promise<string> => (await lab.inside(HOST, command)).stdout.trim();
const REAL = "grep ' install ' | grep -v -e ' install -s '";
/** Which apt-get installs now, not as a rehearsal; empty: none. */
const installing = (): Promise<string> => inside(`pgrep -af '^/usr/bin/apt-get' | ${REAL} || :`);

let args: readonly string[];
let hits = 0;

beforeAll(async () => {
  const { up } = await fresh('cut', [HOST]);
  args = [...up, '--phase', 'prepare,runtime,packages'];
});

afterAll(() => lab.down([HOST]));

test.each(SEEDS)('seed %d', async (seed) => {
  const next = random(seed);
  const job = next() < 0.5 ? 'containerd' : 'kubelet';
  const afterMs = next() * WITHIN_MS;
  await lab.reset([HOST]);
  await watchApt([HOST]);
  const running = start(args);
  await waitUntil(`apt-get installs ${job}`, SOON_MS, async () => (await installing()).includes(job));
  await sleep(afterMs);
  const hit = await installing();
  await cutConnections(HOST);
  if (hit !== '') hits += 1;
  ok(await running.ended);
  console.log(
    `seed ${String(seed)}: cut ${afterMs.toFixed(0)} ms after ${job} began${hit === '' ? ', which had ended' : ''}`,
  );
  const { runs, together } = await aptRuns(HOST);
  expect(runs).toBeGreaterThan(1);
  expect(together).toBe('');
  expect(await inside('dpkg --audit')).toBe('');
  // One of containerd, one of Kubernetes.
  expect(await inside(`cat /var/log/apt-runs | ${REAL} | wc -l`)).toBe('2');
  unchanged(await kbuild(...args));
});

test('most of the cuts came while a package was being installed', () => {
  expect(hits).toBeGreaterThan(SEEDS.length / 2);
});
