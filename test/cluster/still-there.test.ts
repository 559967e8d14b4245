import { expect, test } from 'vitest';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import { stillThere } from '../../src/cluster/removal.ts';
import { FactError } from '../../src/errors.ts';
import { nodeOf } from '../fakes/cluster.ts';

/** A cluster whose API answers, and whose members of etcd cannot be read: the runtime of the control plane hangs. */
const withUnknownMembers = {
  cluster: {
    state: 'up',
    nodes: [nodeOf({ name: 'w1', ready: false })],
    get members(): never {
      throw new FactError('cp1', 'etcd', 'no etcd container runs');
    },
  },
} as unknown as Fleet;

test('a run that names no host as dead does not ask for the members of etcd', () => {
  expect(stillThere(withUnknownMembers, [])).toEqual([]);
});

test('whether a named host is gone is unknown while the members of etcd are', () => {
  expect(() => stillThere(withUnknownMembers, ['w1'])).toThrow(FactError);
});
