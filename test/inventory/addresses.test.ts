import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addressProblem,
  canonical,
  cidrProblem,
  dnsServiceAddress,
  endpointParts,
  firstServiceAddress,
  hostPort,
  isUnreachable,
  isWithin,
  nthAddress,
  overlap,
} from '../../src/inventory/addresses.ts';
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

test('an endpoint has a host and perhaps a port, IPv6 in brackets', () => {
  expect(['k8s.example.com:6443', '10.0.0.1', '[fd00::1]:6443', '[fd00::1]'].map(endpointParts)).toEqual([
    { host: 'k8s.example.com', port: 6443 },
    { host: '10.0.0.1' },
    { host: 'fd00::1', port: 6443 },
    { host: 'fd00::1' },
  ]);
  expect(['fd00::1', 'fd00::1:6443', '[10.0.0.1]:6443', 'a:b', '[fd00::1]6443'].map(endpointParts)).toEqual(
    Array(5).fill(undefined),
  );
  expect([hostPort('fd00::1', 6443), hostPort('10.0.0.1', 6443)]).toEqual(['[fd00::1]:6443', '10.0.0.1:6443']);
});

test('a network or an address lies in a network of its family', () => {
  expect([
    isWithin('fd00::5', 'fd00::/64'),
    isWithin('fd00:0:0:1::/64', 'fd00::/56'),
    isWithin('fd00::/48', 'fd00::/56'),
    isWithin('10.0.0.1', 'fd00::/8'),
    isWithin('any', '10.0.0.0/8'),
    isWithin('10.0.0.1', '10.0.0.1'),
  ]).toEqual([true, true, false, false, false, true]);
});

test('addresses that no other host reaches: loopback, link-local, multicast, none', () => {
  expect(['::', '::1', 'fe80::1', 'ff02::1', '::ffff:10.0.0.1', '127.0.0.1', '224.0.0.1'].every(isUnreachable)).toBe(
    true,
  );
  expect(['fd00::1', '2001:db8::1', '10.0.0.1', '203.0.113.1', '169.254.1.1'].some(isUnreachable)).toBe(false);
});

test('no text makes the judges of addresses and networks throw, and what they accept is canonical', () => {
  const text = fc.oneof(
    fc.string(),
    fc.ipV6(),
    fc.ipV4(),
    fc.tuple(fc.ipV6(), fc.nat(140)).map((one) => one.join('/')),
  );
  fc.assert(
    fc.property(text, (one) => {
      if (addressProblem(one) === undefined) expect(isIP(one)).toBeGreaterThan(0);
      if (addressProblem(one) === undefined) expect(canonical(one)).toBe(one);
      if (cidrProblem(one) === undefined) expect(overlap(one, one)).toBe(true);
      endpointParts(one);
    }),
  );
});
