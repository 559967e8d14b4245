import { expect, test } from 'vitest';
import { isObservationCurrent } from '../../src/session/locks.ts';
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

test('an observation is current when it is recent and no run held a lock since', () => {
  expect(isObservationCurrent(seen(), { usedBefore }, 2000)).toBe(true);
});

test.each<[what: string, facts: FactOverrides]>([
  ['another run held the lock since', { lockUsed: '2.4' }],
  ['another run held the lock then', { lockUsed: 'held' }],
  ['the host booted since', { lockUsed: 'never' }],
  ['a job was running', { runningJob: 'kbuild-job-x.service' }],
])('an observation is not current when on one host %s', (_, facts) => {
  expect(isObservationCurrent(seen(facts), { usedBefore }, 2000)).toBe(false);
});

test('an observation older than ten seconds is not current', () => {
  expect(isObservationCurrent(seen(), { usedBefore }, 10_001)).toBe(false);
});

test('an observation without an unreachable host is not current: another run may have changed that host', () => {
  const lost = fleet({ inventory: two, facts: { cp1: { lockUsed: '1.5' } }, unreachable: ['w1'] });
  expect(isObservationCurrent(lost, { usedBefore }, 2000)).toBe(false);
});

test('an observation of Windows hosts is not current: their locks leave no trace', () => {
  const mixed = inventory({ hosts: [cp1, windowsHost('win1')] });
  expect(
    isObservationCurrent(fleet({ inventory: mixed, facts: { cp1: { lockUsed: '1.5' } } }), { usedBefore }, 2000),
  ).toBe(false);
});
