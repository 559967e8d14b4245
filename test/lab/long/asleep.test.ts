/** The machine that kbuild runs on sleeps for ten minutes in the middle of joins: longer than locks, Leases and sshd wait. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fresh } from '../fresh.ts';
import { start } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['ascp1', 'asw1', 'asw2'];
const [cp, w1] = HOSTS as [string, string, string];
const ASLEEP_MS = 10 * 60_000;
const MINUTES_MS = 5 * 60_000;
let args: readonly string[];

const inside = async (host: string, command: string): Promise<string> =>
  (await lab.inside(host, command)).stdout.trim();

beforeAll(async () => {
  ({ up: args } = await fresh('asleep', HOSTS));
  // sshd ends connections that send nothing, as on many servers.
  for (const host of HOSTS) {
    await inside(
      host,
      "printf 'ClientAliveInterval 30\\nClientAliveCountMax 3\\n' >/etc/ssh/sshd_config.d/alive.conf && systemctl reload ssh",
    );
  }
});

afterAll(() => lab.down(HOSTS));

test('what was under way is followed, and the run goes on where it stood', { timeout: 30 * 60_000 }, async () => {
  const running = start(args);
  await waitUntil('the join of w1', MINUTES_MS, async () =>
    (await inside(w1, "systemctl list-units --plain --no-legend --all 'kbuild-job-kubeadm-join*'")).includes('join'),
  );
  running.kill('SIGSTOP');
  const from = performance.now();
  // The host frees the lock long before the laptop wakes.
  await waitUntil(
    'the locks are free',
    MINUTES_MS,
    async () => (await inside(cp, 'flock -n /run/kbuild/lock echo free || :')) === 'free',
  );
  console.log(`the lock was free ${((performance.now() - from) / 1000).toFixed(0)} s after it fell asleep`);
  await new Promise((resolve) => setTimeout(resolve, ASLEEP_MS - (performance.now() - from)));
  running.kill('SIGCONT');
  const woke = performance.now();
  ok(await running.ended);
  console.log(`it ended ${((performance.now() - woke) / 1000).toFixed(0)} s after it woke`);
  expect(await nodes(cp)).toEqual(Object.fromEntries(HOSTS.map((host) => [host, true])));
  unchanged(await start(args).ended);
});
