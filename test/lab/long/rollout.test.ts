/**
 * `rollout` of the inventory: as many workers as it allows restart their kubelets at once, also though kbuild is killed at every
 * change, and a drain ends after the time that it gives.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { fresh } from '../fresh.ts';
import { eventsOf, kbuild, start, type Ran } from '../kbuild.ts';
import { killedAtChanges } from '../killed-at-changes.ts';
import * as lab from '../lab.ts';
import { apply, pinned } from '../midway.ts';
import { ok } from '../ok.ts';
import { kubectl } from '../pods.ts';
import { PATIENCE_MS, waitUntil } from '../wait-until.ts';

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

/** The restarts of the workers' kubelets: when each began and ended. */
const restartsIn = (ran: Pick<Ran, 'stdout'>) =>
  eventsOf(ran).flatMap((event) =>
    (event.kind === 'changing' || event.kind === 'changed') &&
    event.step === 'kubelet-settings' &&
    WORKERS.includes(event.host)
      ? [{ kind: event.kind, host: event.host, atMs: Date.parse(event.time) }]
      : [],
  );

/** How many workers were without their kubelet at once. */
function mostAtOnce(ran: Pick<Ran, 'stdout'>): number {
  let [now, most] = [0, 0];
  for (const { kind } of restartsIn(ran)) {
    now += kind === 'changing' ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}

async function expectEverywhere(maxPods: number): Promise<void> {
  for (const host of HOSTS)
    expect((await lab.inside(host, 'grep maxPods /var/lib/kubelet/config.yaml')).stdout.trim()).toBe(
      `maxPods: ${String(maxPods)}`,
    );
  expect(ok(await kbuild('plan', file)).stdout).toBe('nothing to do\n');
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
  const most = mostAtOnce(ok(await kbuild(...args, '--json')));
  console.log(`${String(most)} workers at once`);
  expect(most).toBeGreaterThan(1);
});

test('one at a time, if it allows a share that is less than one', async () => {
  edit({ maxUnavailable: '20%' }, 91);
  expect(mostAtOnce(ok(await kbuild(...args, '--json')))).toBe(1);
});

test('kbuild is killed at every change: the same command goes on', async () => {
  edit({ maxUnavailable: 3 }, 92);
  await killedAtChanges(args);
  await expectEverywhere(92);
});

test('a pause between two batches is as long as the plan says; a run that is killed in it goes on with the next batch', async () => {
  edit({ maxUnavailable: 1, pause: '30s' }, 93);
  expect(ok(await kbuild('plan', file)).stdout).toContain('with a pause of 30 s between batches');
  const cut = start([...args, '--json']);
  await waitUntil('the pause after the first worker', PATIENCE_MS, () => cut.printed().includes('pause until'));
  cut.kill('SIGKILL');
  const [began, ended, ...more] = restartsIn(await cut.ended);
  expect([began?.kind, ended?.kind, ...more]).toEqual(['changing', 'changed']);
  const rest = restartsIn(ok(await kbuild(...args, '--json')));
  expect(rest.map(({ kind }) => kind)).toEqual(['changing', 'changed', 'changing', 'changed']);
  expect(new Set([ended!.host, ...rest.map(({ host }) => host)])).toEqual(new Set(WORKERS));
  const seconds = (rest[2]!.atMs - rest[1]!.atMs) / 1000;
  console.log(`the pause lasted ${seconds.toFixed(0)} s`);
  expect(seconds).toBeGreaterThanOrEqual(30);
  await expectEverywhere(93);
});

test('a drain that may take 20 s ends then, and the node takes pods again', async () => {
  edit({ drainTimeout: '20s' }, 93);
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
