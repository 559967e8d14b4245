/**
 * `rollout` of the inventory: as many workers as it allows restart their kubelets at once, also though kbuild is killed at every
 * change, and a drain ends after the time that it gives.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { fresh } from '../fresh.ts';
import { eventsOf, kbuild } from '../kbuild.ts';
import { killedAtChanges } from '../killed-at-changes.ts';
import * as lab from '../lab.ts';
import { apply, pinned } from '../midway.ts';
import { ok } from '../ok.ts';
import { kubectl } from '../pods.ts';

const CP = 'rlcp1';
const WORKERS = ['rlw1', 'rlw2', 'rlw3'];
const HOSTS = [CP, ...WORKERS];
let args: readonly string[];
let file: string;

/** Writes further settings of the inventory, and another `maxPods` of all kubelets. */
const edit = (rollout: object, maxPods: number): void => {
  const plain = parse(readFileSync(file, 'utf8')) as { readonly kubelet?: { readonly config?: object } };
  const kubelet = { ...plain.kubelet, config: { ...plain.kubelet?.config, maxPods } };
  writeFileSync(file, stringify({ ...plain, rollout, kubelet }, { aliasDuplicateObjects: false }));
};

/** How many workers were without their kubelet at once. */
function mostAtOnce(events: ReturnType<typeof eventsOf>): number {
  let [now, most] = [0, 0];
  for (const event of events) {
    if (!('step' in event) || event.step !== 'kubelet-settings' || !WORKERS.includes(event.host)) continue;
    if (event.kind === 'changing') most = Math.max(most, ++now);
    if (event.kind === 'changed') now -= 1;
  }
  return most;
}

beforeAll(async () => {
  ({ up: args, file } = await fresh('rollout', HOSTS));
  ok(await kbuild(...args));
});

afterAll(() => lab.down(HOSTS));

test('three workers at once, if it allows three; the plan says so', async () => {
  edit({ maxUnavailable: 3 }, 90);
  const { restarts } = JSON.parse(ok(await kbuild('plan', file, '--json')).stdout) as { readonly restarts: object[] };
  expect(restarts).toContainEqual(expect.objectContaining({ what: 'kubelet', hosts: WORKERS, atOnce: 3 }));
  const most = mostAtOnce(eventsOf(ok(await kbuild(...args, '--json'))));
  console.log(`${String(most)} workers at once`);
  expect(most).toBeGreaterThan(1);
});

test('one at a time, if it allows a share that is less than one', async () => {
  edit({ maxUnavailable: '20%' }, 91);
  expect(mostAtOnce(eventsOf(ok(await kbuild(...args, '--json'))))).toBe(1);
});

test('kbuild is killed at every change: the same command goes on', async () => {
  edit({ maxUnavailable: 3 }, 92);
  await killedAtChanges(args);
  for (const host of HOSTS)
    expect((await lab.inside(host, 'grep maxPods /var/lib/kubelet/config.yaml')).stdout.trim()).toBe('maxPods: 92');
  expect(ok(await kbuild('plan', file)).stdout).toBe('nothing to do\n');
});

test('a drain that may take 20 s ends then, and the node takes pods again', async () => {
  edit({ drainTimeout: '20s' }, 92);
  const [worker] = WORKERS as [string];
  await apply(CP, [
    pinned('kept', worker),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'keep', namespace: 'default' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } },
    },
  ]);
  await kubectl(CP, 'wait deployment --all --for=condition=Available --timeout=300s');
  const ran = await kbuild('reboot', worker, '-i', file, '--all', '--yes', '--json');
  expect(ran.code, ran.stdout + ran.stderr).toBe(5);
  const events = eventsOf(ran);
  const time = (kind: string): number =>
    Date.parse(events.find((one) => one.kind === kind && 'step' in one && one.step === 'drained')!.time);
  const seconds = (time('failed') - time('changing')) / 1000;
  console.log(`the drain ended after ${seconds.toFixed(0)} s`);
  expect(seconds).toBeGreaterThanOrEqual(20);
  // Without the setting it would be 300 s and more.
  expect(seconds).toBeLessThan(240);
  expect(ran.stdout + ran.stderr).toContain('PodDisruptionBudget keep');
  expect(await kubectl(CP, `get node ${worker} -o 'jsonpath={.spec.unschedulable}'`)).toBe('');
});
