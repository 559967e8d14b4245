import { expect, test } from 'vitest';
import { landmarks } from '../../src/topology/landmarks.ts';
import { inventory, linuxHost } from '../fakes/inventory.ts';

const fleetOf = (count: number) => {
  const hosts = Array.from({ length: count }, (_, i) => {
    const internalAddress = `10.${String(Math.floor(i / 62_500))}.${String(Math.floor(i / 250) % 250)}.${String((i % 250) + 1)}`;
    return linuxHost(`h${String(i)}`, { role: i < 3 ? 'control-plane' : 'worker', internalAddress });
  });
  return inventory({ hosts });
};

test('of a few hosts every one is asked for', () => {
  expect(landmarks(fleetOf(32))).toHaveLength(32);
});

test('of many the control planes and two of each network stand for all', () => {
  expect(landmarks(fleetOf(1000)).map(({ name }) => name)).toEqual([
    'h0',
    'h1',
    'h2',
    'h3',
    'h4',
    'h250',
    'h251',
    'h500',
    'h501',
    'h750',
    'h751',
  ]);
});

test('their number stays small whatever the fleet', () => {
  expect(landmarks(fleetOf(20_000)).length).toBeLessThanOrEqual(67);
});
