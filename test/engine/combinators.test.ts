import { describe, expect, test } from 'vitest';
import {
  mapChanges,
  orWaitForApi,
  together,
  when,
  where,
  withChanges,
  withInventory,
} from '../../src/engine/combinators.ts';
import { type Step, type Target, watchesOf } from '../../src/engine/step.ts';
import { cp1, fleetIn, fleetOf, inventoryOf, joinedHost, targetOf } from '../fakes/cluster.ts';

const inventory = inventoryOf({ hosts: [cp1] });
const target = targetOf(inventory, cp1, fleetOf(joinedHost(cp1)));
const { host } = target;

/** A step with everything that the engine reads of one. */
const step: Step = {
  name: 'swap-off',
  watches: { files: ['/etc/fstab'] },
  settleMs: 1000,
  needs: 'whole-control-plane',
  diff: ({ inventory: { name } }) => [{ summary: `switch swap off in ${name}` }],
};
const other: Step = { name: 'modules', watches: () => ({ units: ['modules'] }), diff: () => [{ summary: 'load' }] };

const summaries = (of: Step, about: Target = target): readonly string[] => of.diff(about).map(({ summary }) => summary);

describe('every combinator', () => {
  test.each<[string, Step]>([
    ['when', when(() => false, step)],
    ['where', where(() => true, step)],
    ['withChanges', withChanges(step, () => [])],
    ['mapChanges', mapChanges(step, (change) => change)],
    ['withInventory', withInventory(step, () => inventory)],
    ['orWaitForApi', orWaitForApi(step)],
  ])('%s passes on name, watches, time to settle and needs', (_, made) => {
    const { name, settleMs, needs } = made;
    expect({ name, settleMs, needs }).toEqual({ name: 'swap-off', settleMs: 1000, needs: 'whole-control-plane' });
    expect(watchesOf(made, { inventory, host })).toEqual({ files: ['/etc/fstab'] });
  });
});

test('when: where its condition does not hold, a step has no changes and is not asked', () => {
  const unasked: Step = {
    ...step,
    diff: () => {
      throw new Error('asked');
    },
  };
  expect(summaries(when(() => false, unasked))).toEqual([]);
  expect(summaries(when(({ host: { name } }) => name === 'cp1', step))).toEqual(['switch swap off in demo']);
});

test('where: a host that the inventory leaves out is not observed for the step', () => {
  const nowhere = where(() => false, step);
  expect(watchesOf(nowhere, { inventory, host })).toEqual({});
  expect(summaries(nowhere)).toEqual([]);
});

test('mapChanges: each change is turned into another one, with the target at hand', () => {
  const named = mapChanges(step, ({ summary }, { host: { name } }) => ({ summary: `${name}: ${summary}` }));
  expect(summaries(named)).toEqual(['cp1: switch swap off in demo']);
});

test('withInventory: the step sees the other inventory, and the changes around it the own one', () => {
  const led = withInventory(step, () => ({ ...inventory, name: 'after' }));
  expect(
    summaries(mapChanges(led, ({ summary }, about) => ({ summary: `${summary}, ${about.inventory.name}` }))),
  ).toEqual(['switch swap off in after, demo']);
});

test('together: several steps are one that watches what each of them watches, in their order', () => {
  const both = together('both', step, other);
  expect(both.name).toBe('both');
  expect(summaries(both)).toEqual(['switch swap off in demo', 'load']);
  expect(watchesOf(both, { inventory, host })).toMatchObject({ files: ['/etc/fstab'], units: ['modules'] });
});

test('orWaitForApi: while the API does not answer, a target that needs it waits, and any other goes on', () => {
  const down = targetOf(inventory, cp1, fleetIn({ state: 'down', reason: 'refused' } as never, joinedHost(cp1)));
  expect(summaries(orWaitForApi(step), down)).toEqual(['wait for the API server to answer (refused)']);
  expect(
    summaries(
      orWaitForApi(step, () => false),
      down,
    ),
  ).toEqual(['switch swap off in demo']);
});
