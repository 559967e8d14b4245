/**
 * What kbuild adds to kubeadm's own time: 3 control planes and 2 workers with packages and images already there, then one more
 * worker, then an upgrade of all six. Each bound is measured against kubeadm in the same run, so a busy machine moves both sides.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventsOf, kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok } from '../ok.ts';
import { stacked, type Stacked } from '../stacked.ts';
import { ownPart, timeOfUpgrade, toldTime } from '../upgrade-time.ts';
import { nameVersion, upgradeArguments } from '../upgraded.ts';
import { KUBERNETES } from '../versions.ts';

const FIVE = ['hacp1', 'hacp2', 'hacp3', 'haw1', 'haw2'];
const SIX = [...FIVE, 'haw3'];
const BUILT_WITHIN = 1.15;
const REGISTERED_WITHIN_S = 5;
/** Of an upgrade: a share of the time of kubeadm and the drains, and seconds for each hop. */
const UPGRADE_SHARE = 0.1;
const UPGRADE_HOP_S = 10;
let cluster: Stacked;

/** The moment of a kubelet's first line with these words, in ms: the API itself tells whole seconds only. */
async function firstSaid(host: string, words: string): Promise<number> {
  const { stdout } = await lab.inside(host, `journalctl -u kubelet -q -o short-unix | grep -m1 -F '${words}'`);
  return Number(stdout.split(' ')[0]) * 1000;
}

/** Seconds from a moment until a node was registered, and Ready. */
async function nodeAfter(
  fromMs: number,
  host: string,
): Promise<{ readonly registered: number; readonly ready: number }> {
  const registered = await firstSaid(host, 'Successfully registered node');
  const ready = await firstSaid(host, 'Fast updating node status as it just became ready');
  return { registered: (registered - fromMs) / 1000, ready: (ready - fromMs) / 1000 };
}

/** Seconds that jobs of this name ran, by the run's log. */
const jobSeconds = (log: string, host: string, name: string): number =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map(
      (line) => JSON.parse(line) as { readonly host?: string; readonly command?: string; readonly durationMs?: number },
    )
    .filter((entry) => entry.host === host && entry.command?.startsWith(`job ${name}-`))
    .reduce((sum, { durationMs = 0 }) => sum + durationMs / 1000, 0);

beforeAll(async () => {
  cluster = await stacked('hatime', 7493, SIX);
  ok(await cluster.up('--phase', 'prepare,runtime,packages,images'));
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down(SIX);
});

test(`3 + 2 are registered within ${String(BUILT_WITHIN)} times init and the joins that must follow one another`, async () => {
  await cluster.name(FIVE);
  const fromMs = Date.now();
  const ran = ok(await cluster.up('--json'));
  const serial = eventsOf(ran)
    .flatMap((event) =>
      event.kind === 'changed' &&
      (event.step === 'kubeadm-init' || (event.step === 'kubeadm-join' && event.phase === 'control-planes'))
        ? [event.durationMs]
        : [],
    )
    .reduce((sum, ms) => sum + ms / 1000, 0);
  const times = await Promise.all(FIVE.map((host) => nodeAfter(fromMs, host)));
  const last = Math.max(...times.map(({ registered }) => registered));
  const ready = Math.max(...times.map((one) => one.ready));
  console.log(
    `3 + 2: init and serial joins ${serial.toFixed(1)} s; the last node registered after ${last.toFixed(1)} s (${(last / serial).toFixed(2)} times), Ready after ${ready.toFixed(1)} s; kbuild ended after ${ran.seconds.toFixed(1)} s`,
  );
  expect(last).toBeLessThanOrEqual(BUILT_WITHIN * serial);
});

test(`a worker more is registered within ${String(REGISTERED_WITHIN_S)} s beyond its own kubeadm join`, async () => {
  await cluster.name(SIX);
  const log = join(cluster.file, '..', 'worker.log');
  const fromMs = Date.now();
  ok(await cluster.up('--json', '--log-file', log));
  const joining = jobSeconds(log, 'haw3', 'kubeadm-join');
  const { registered, ready } = await nodeAfter(fromMs, 'haw3');
  console.log(
    `a worker more: registered after ${registered.toFixed(1)} s, of which kubeadm join ${joining.toFixed(1)} s; Ready after ${ready.toFixed(1)} s`,
  );
  expect(registered - joining).toBeLessThanOrEqual(REGISTERED_WITHIN_S);
});

test(`an upgrade takes kbuild a tenth of the time of kubeadm and the drains, and ${String(UPGRADE_HOP_S)} s a hop`, async () => {
  await nameVersion(cluster, SIX, KUBERNETES[1].version);
  const log = join(cluster.file, '..', 'upgrade.log');
  ok(await kbuild(...upgradeArguments(cluster), '--log-file', log));
  const time = timeOfUpgrade(log);
  const bound = UPGRADE_SHARE * (time.kubeadm + time.drains) + UPGRADE_HOP_S;
  console.log(`an upgrade of 3 + 3: ${toldTime(time)} (at most ${bound.toFixed(0)} s)`);
  expect(ownPart(time)).toBeLessThanOrEqual(bound);
});
