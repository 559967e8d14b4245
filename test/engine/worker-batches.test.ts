import { describe, expect, test } from 'vitest';
import { DeadlinePassed, Interrupted } from '../../src/errors.ts';
import type { Step } from '../../src/engine/step.ts';
import { host, linuxPhase, wants, world, type World } from './world.ts';

const PAUSE_MS = 600_000;
const workers = ['w1', 'w2', 'w3', 'w4', 'w5'].map((name) => host(name));
const cp1 = host('cp1', 'control-plane');
const rollout = { maxUnavailable: { workers: 2 }, drainTimeoutMs: 1, pauseMs: PAUSE_MS };

/** A step that disrupts its host, and the times at which it did, in ms. */
function restarting(here: World, word = 'restarted') {
  const times = new Map<string, number>();
  const step = wants(word, {
    disrupts: true,
    apply: ({ name }) => {
      times.set(name, here.nowMs());
      here.pass(1000);
    },
  });
  return { step, times };
}

/** What was said while the run waited. */
const waits = ({ events }: World): readonly string[] => [
  ...new Set(events.flatMap((event) => (event.kind === 'settling' ? [`${event.host}: ${event.summary}`] : []))),
];

/** How many pauses have passed before each host, by the time of its change. */
const batches = (times: ReadonlyMap<string, number>): readonly string[] =>
  [...times].map(([name, ms]) => `${name}: ${String(Math.floor(ms / PAUSE_MS))}`).toSorted();

describe('rollout.pause', () => {
  test('passes after each batch of as many workers as may be away, and the wait says until when', async () => {
    const here = world(workers, rollout);
    const { step, times } = restarting(here);
    const { failures } = await here.run([linuxPhase('kubelets', workers, [step])]);
    expect([...failures]).toEqual([]);
    expect(batches(times)).toEqual(['w1: 0', 'w2: 0', 'w3: 1', 'w4: 1', 'w5: 2']);
    expect(waits(here).map((wait) => wait.slice(4))).toEqual([
      'pause until 1970-01-01 00:10:02 UTC before the next batch of workers (rollout.pause)',
      'pause until 1970-01-01 00:20:04 UTC before the next batch of workers (rollout.pause)',
    ]);
  });

  test('passes after each worker of a phase that goes host by host', async () => {
    const here = world(workers, rollout);
    const { step, times } = restarting(here);
    await here.run([linuxPhase('runtime', workers, [step], { concurrency: 1 })]);
    expect(batches(times)).toEqual(['w1: 0', 'w2: 1', 'w3: 2', 'w4: 3', 'w5: 4']);
  });

  test('does not hold up control planes, nor what disrupts nothing', async () => {
    const here = world([cp1, ...workers], rollout);
    const { step } = restarting(here);
    const calm = wants('labelled');
    await here.run([linuxPhase('nodes', [...workers, cp1], [calm]), linuxPhase('a', [cp1], [step])]);
    expect(here.nowMs()).toBeLessThan(PAUSE_MS);
  });

  test('of 0 s changes nothing: no wait, and the next worker begins when one is through', async () => {
    const here = world(workers, { ...rollout, pauseMs: 0 });
    const { step } = restarting(here);
    await here.run([linuxPhase('kubelets', workers, [step])]);
    expect(waits(here)).toEqual([]);
    expect(here.nowMs()).toBe(5000);
  });

  test('passes before the nodes of a batch are cordoned, not between their cordon and their reboot', async () => {
    const here = world(workers, rollout);
    const times: string[] = [];
    const at =
      (what: string) =>
      ({ name }: { readonly name: string }): void =>
        void times.push(`${what} ${name}: ${String(Math.floor(here.nowMs() / PAUSE_MS))}`);
    const cordon: Step = {
      ...wants('cordoned'),
      diff: (target) =>
        wants('cordoned', { apply: at('cordon') })
          .diff(target)
          .map((change) => ({ ...change, drains: true as const })),
    };
    const reboot = wants('rebooted', { disrupts: true, apply: at('reboot') });
    const [first, ...others] = workers;
    // The last run was killed when it had cordoned w2.
    here.words.get('w2')!.add('cordoned');
    await here.run([
      linuxPhase('reboot-1', [first!], [reboot], { batch: 'one', concurrency: 1 }),
      linuxPhase('cordon-2', others, [cordon], { batch: 'two', concurrency: 4 }),
      linuxPhase('reboot-2', others, [reboot], { batch: 'two', concurrency: 4 }),
    ]);
    expect(times.toSorted()).toEqual([
      ...['w3', 'w4', 'w5'].map((name) => `cordon ${name}: 1`),
      'reboot w1: 0',
      ...['w2', 'w3', 'w4', 'w5'].map((name) => `reboot ${name}: 1`),
    ]);
  });

  test('counts from the end of the phase on the last host of the batch', async () => {
    const here = world(workers.slice(0, 2), { ...rollout, maxUnavailable: { workers: 1 } });
    const { step, times } = restarting(here);
    let asked = 0;
    const slow: Step = {
      name: 'workloads-back',
      settleMs: 300_000,
      diff: ({ host: { name } }) => (name === 'w1' && ++asked < 100 ? [{ summary: 'wait for pods' }] : []),
    };
    await here.run([linuxPhase('kubelets', workers.slice(0, 2), [step, slow], { concurrency: 1 })]);
    expect(times.get('w2')! - times.get('w1')!).toBeGreaterThan(PAUSE_MS + 40_000);
  });

  test('is followed by another look from the first step on: what broke meanwhile keeps the next batch as it is', async () => {
    const here = world(workers.slice(0, 2), { ...rollout, maxUnavailable: { workers: 1 } });
    const { step, times } = restarting(here);
    const gate: Step = {
      name: 'others-are-back',
      diff: ({ host: { name } }) =>
        name === 'w2' && here.nowMs() > PAUSE_MS ? [{ summary: 'wait until w1 takes pods again' }] : [],
    };
    const { failures } = await here.run([
      linuxPhase('kubelets', workers.slice(0, 2), [gate, step], { concurrency: 1 }),
    ]);
    expect([...times.keys()]).toEqual(['w1']);
    expect(failures.get('w2')?.message).toContain('wait until w1 takes pods again');
  });

  test.each([
    ['an interrupt', new Interrupted('interrupted')],
    ["the run's deadline", new DeadlinePassed('30 min have passed')],
  ])('ends at once with %s, and the next run goes on with the next batch without a pause', async (_, reason) => {
    const here = world(workers, rollout);
    const { step, times } = restarting(here);
    const controller = new AbortController();
    const push = here.events.push.bind(here.events);
    here.events.push = (...events) => {
      if (events.some(({ kind }) => kind === 'settling')) controller.abort(reason);
      return push(...events);
    };
    const phases = [linuxPhase('kubelets', workers, [step])];
    const { stopped, failures } = await here.run(phases, { signal: controller.signal });
    expect([stopped, [...failures]]).toEqual([reason, []]);
    expect([...times.keys()].toSorted()).toEqual(['w1', 'w2']);
    const beganMs = here.nowMs();
    expect(beganMs).toBeLessThan(PAUSE_MS);
    await here.run(phases);
    expect([...times.keys()].toSorted()).toEqual(['w1', 'w2', 'w3', 'w4', 'w5']);
    expect(Math.min(...['w3', 'w4', 'w5'].map((name) => times.get(name)!))).toBe(beganMs);
  });
});
