import { expect, test } from 'vitest';
import { dnsServiceAddress, firstServiceAddress, nthAddress, overlap } from '../../src/inventory/subnets.ts';
import { inventory } from '../fakes/inventory.ts';

test('addresses of a network are counted across bytes', () => {
  expect([nthAddress('10.96.0.0/12', 1), nthAddress('10.0.0.250/32', 10), nthAddress('10.0.255.250/16', 10)]).toEqual([
    '10.96.0.1',
    '10.0.1.4',
    '10.1.0.4',
  ]);
  expect(nthAddress('fd00::/108', 10)).toBe('fd00::a');
});

test('networks overlap if one contains the other', () => {
  expect([
    overlap('10.0.0.0/8', '10.96.0.0/12'),
    overlap('10.96.0.0/12', '10.0.0.0/8'),
    overlap('10.244.0.0/16', '10.96.0.0/12'),
    overlap('10.0.0.0/8', 'fd00::/8'),
  ]).toEqual([true, true, false, false]);
});

test('the Services of API and DNS have kubeadm’s addresses', () => {
  expect([firstServiceAddress(inventory()), dnsServiceAddress(inventory())]).toEqual(['10.96.0.1', '10.96.0.10']);
});
