import { describe, expect, test } from 'vitest';
import { atVersion } from '../../src/upgrade/at-version.value.ts';
import { etcdBefore, foundAt, hopsThrough } from '../../src/upgrade/hop.ts';
import { inventory } from '../fakes/inventory.ts';

test('an inventory at another version has the repository of its minor', () => {
  const { kubernetes } = atVersion(inventory(), '1.37.1');
  expect(kubernetes.minor).toBe('1.37');
  expect(kubernetes.repository.url).toBe('https://pkgs.k8s.io/core:/stable:/v1.37/deb/');
});

describe('a hop', () => {
  test('starts where the one before ends', () => {
    expect(hopsThrough('1.34.4', ['1.35.8', '1.36.4'])).toEqual([
      { from: '1.34.4', version: '1.35.8' },
      { from: '1.35.8', version: '1.36.4' },
    ]);
  });

  test('to 1.37 needs etcd 3.6.11, and an older one needs none', () => {
    expect(etcdBefore({ version: '1.36.4' })).toBeUndefined();
    expect(etcdBefore({ version: '1.37.0' })).toBe('3.6.11');
  });

  test('shows as found what the hop before leaves, and what runs where that is newer or the hop has no start', () => {
    const hop = { from: '1.35.8', version: '1.36.4' };
    expect(foundAt(hop, '1.34.4')).toBe('1.35.8');
    expect(foundAt(hop, '1.36.1')).toBe('1.36.1');
    expect(foundAt({ from: '1.37.1', version: '1.37.1' }, '1.36.3')).toBe('1.36.3');
    expect(foundAt(hop, 'unknown')).toBe('1.35.8');
    expect(foundAt({ version: '1.36.4' }, '1.34.4')).toBe('1.34.4');
  });
});
