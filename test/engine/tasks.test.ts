/** How the tasks of a run end, ask and weigh. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { converge } from '../../src/engine/converge.ts';
import type { Event } from '../../src/engine/event.ts';
import { bareRun } from './bare-run.ts';
import { host, linuxPhase, wants } from './world.ts';

const w1 = host('w1');
const w2 = host('w2');
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('an error that is no failure of a host ends the run when all hosts have stopped, and the run rejects with it', async () => {
  const order: string[] = [];
  const after = (word: string, ticks: number) =>
    wants(word, {
      apply: async ({ name }) => {
        for (let i = 0; i < ticks; i++) await tick();
        order.push(`${name}: ${word}`);
      },
    });
  const phases = [
    linuxPhase('first', [w1], [after('short', 5)]),
    linuxPhase('beside', [w1, w2], [after('long', 20)], { overlaps: true }),
    linuxPhase('later', [w1, w2], [after('never', 1)]),
  ];
  const mistake = new TypeError('a mistake in a reporter');
  const emit = (event: Event): void => {
    if (event.kind === 'phase-done') throw mistake;
    if (event.kind === 'phase-started' || event.kind === 'done') order.push(event.kind);
  };
  const run = converge(bareRun(phases, [w1, w2], { emit })).finally(() => order.push('rejected'));
  await expect(run).rejects.toBe(mistake);
  expect(order).toEqual(['phase-started', 'phase-started', 'w1: short', 'w2: long', 'rejected']);
});

test('a run listens to no signals: the session decides what Ctrl-C does', async () => {
  const before = process.listenerCount('SIGINT');
  let during = -1;
  const step = wants('word', { apply: () => void (during = process.listenerCount('SIGINT')) });
  await converge(bareRun([linuxPhase('p', [w1], [step])], [w1]));
  expect([during, process.listenerCount('SIGINT')]).toEqual([before, before]);
});

test('questions of hosts that are changed at once are asked one after another', async () => {
  let asking = 0;
  let most = 0;
  const approve = async (): Promise<boolean> => {
    most = Math.max(most, (asking += 1));
    await tick();
    asking -= 1;
    return true;
  };
  const hosts = [w1, w2, host('w3')];
  const { changes } = await converge(
    bareRun([linuxPhase('p', hosts, [wants('word')])], hosts, { asks: true, approve }),
  );
  expect([changes, most]).toEqual([3, 1]);
});

test('5,000 hosts in 22 phases take at most 150 MiB', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapMiB = (): number => {
    collect();
    return process.memoryUsage().heapUsed / 1024 / 1024;
  };
  const hosts = Array.from({ length: 5000 }, (_, i) => host(`w${String(i)}`));
  // The tasks of a group are kept until the next one begins: the largest group of `up` has fewer phases than this one.
  const phases = Array.from({ length: 22 }, (_, i) =>
    linuxPhase(`p${String(i)}`, hosts, [], i > 0 && i < 8 ? { overlaps: true } : {}),
  );
  let [mostMiB, lastMiB] = [0, 0];
  const emit = (event: Event): void => {
    if (event.kind === 'phase-done' && event.phase === 'p7') mostMiB = heapMiB();
    if (event.kind === 'phase-done' && event.phase === 'p21') lastMiB = heapMiB();
  };
  const run = bareRun(phases, hosts, { emit });
  const beforeMiB = heapMiB();
  await converge(run);
  expect(mostMiB - beforeMiB).toBeGreaterThan(0);
  expect(mostMiB - beforeMiB).toBeLessThan(150);
  // One phase alone: the tasks of the groups before it are forgotten.
  expect(lastMiB - beforeMiB).toBeLessThan((mostMiB - beforeMiB) / 2);
});
