import { expect, test } from 'vitest';
import { landmarks } from '../../src/inventory/hosts.ts';
import { inventory, linuxHost } from '../fakes/inventory.ts';

const fleetOf = (count: number) => {
  const hosts = Array.from({ length: count }, (_, i) => {
    const internalAddress = `10.${String(Math.floor(i / 62_500))}.${String(Math.floor(i / 250) % 250)}.${String((i % 250) + 1)}`;
    return linuxHost(`h${String(i)}`, { role: i < 3 ? 'control-plane' : 'worker', internalAddress });
  });
  return inventory({ hosts });
};

test('in a small fleet every host is a landmark', () => {
  expect(landmarks(fleetOf(32))).toHaveLength(32);
});

test('in a large fleet the control planes and two hosts of each network are landmarks', () => {
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

test('the number of landmarks stays small in every fleet', () => {
  expect(landmarks(fleetOf(20_000)).length).toBeLessThanOrEqual(67);
});
