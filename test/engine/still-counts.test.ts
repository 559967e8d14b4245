import { expect, test } from 'vitest';
import { stillCounts } from '../../src/engine/still-counts.ts';
import type { FactOverrides } from '../fakes/facts.ts';
import { fleet } from '../fakes/fleet.ts';
import { inventory, linuxHost, windowsHost } from '../fakes/inventory.ts';

const cp1 = linuxHost('cp1', { role: 'control-plane' });
const w1 = linuxHost('w1');
const two = inventory({ hosts: [cp1, w1] });
const seen = (w1Facts: FactOverrides = {}) =>
  fleet({ inventory: two, facts: { cp1: { lockUsed: '1.5' }, w1: { lockUsed: '2.5', ...w1Facts } } });
const usedBefore = new Map([
  ['cp1', '1.5'],
  ['w1', '2.5'],
]);

test('what was just seen of every host still counts when nobody held a lock since', () => {
  expect(stillCounts(seen(), { usedBefore }, 2000)).toBe(true);
});

test.each<[what: string, facts: FactOverrides]>([
  ['somebody held the lock since', { lockUsed: '2.4' }],
  ['somebody held the lock then', { lockUsed: 'held' }],
  ['the host booted since', { lockUsed: 'never' }],
  ['a job was running', { runningJob: 'kbuild-job-x.service' }],
])('it does not when on one host %s', (_, facts) => {
  expect(stillCounts(seen(facts), { usedBefore }, 2000)).toBe(false);
});

test('nor when it was seen long ago, as while somebody thought about the plan', () => {
  expect(stillCounts(seen(), { usedBefore }, 10_001)).toBe(false);
});

test('nor when a host could not be reached: another run may have reached it', () => {
  const lost = fleet({ inventory: two, facts: { cp1: { lockUsed: '1.5' } }, unreachable: ['w1'] });
  expect(stillCounts(lost, { usedBefore }, 2000)).toBe(false);
});

test('nor with Windows hosts, whose locks leave no trace', () => {
  const mixed = inventory({ hosts: [cp1, windowsHost('win1')] });
  expect(stillCounts(fleet({ inventory: mixed, facts: { cp1: { lockUsed: '1.5' } } }), { usedBefore }, 2000)).toBe(
    false,
  );
});
