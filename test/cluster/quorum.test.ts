import { describe, expect, test } from 'vitest';
import { gate, type Membership, type MembershipChange, quorumOf } from '../../src/cluster/members.ts';

/** `unknown` did not answer: it may be up or down. `learner` has started, `unstarted` was added as a voter and never came. */
const STATES = ['up', 'down', 'learner', 'unknown', 'unstarted'] as const;
type State = (typeof STATES)[number];

function* everyCluster(n: number): Generator<readonly State[]> {
  if (n === 0) yield [];
  else for (const rest of everyCluster(n - 1)) for (const state of STATES) yield [...rest, state];
}

const observed = (states: readonly State[], alarms: readonly string[] = []): Membership => ({
  members: states.map((state, i) => ({
    id: String(i),
    name: state === 'unstarted' ? '' : `cp${String(i + 1)}`,
    learner: state === 'learner',
    healthy: state === 'up' || state === 'learner',
  })),
  alarms,
});

const changes = (n: number): readonly MembershipChange[] => [
  { kind: 'add' },
  ...Array.from({ length: n }, (_, i): MembershipChange => ({ kind: 'remove', id: String(i) })),
  ...Array.from({ length: n }, (_, i): MembershipChange => ({ kind: 'promote', id: String(i), inSync: true })),
];

/** Everything that may really be the case where the observation leaves it open. */
function* truths(states: readonly State[]): Generator<readonly State[]> {
  const open = states.indexOf('unknown');
  if (open === -1) yield states;
  else for (const state of ['up', 'down'] as const) yield* truths(states.with(open, state));
}

const voters = (states: readonly State[]): readonly State[] => states.filter((state) => state !== 'learner');
const hasQuorum = (states: readonly State[]): boolean =>
  voters(states).filter((state) => state === 'up').length >= quorumOf(voters(states).length);

/** What a change leaves; an added member is a learner that has no vote, and a promoted one votes. */
function after(states: readonly State[], change: MembershipChange): readonly State[] {
  switch (change.kind) {
    case 'add':
      return [...states, 'learner'];
    case 'remove':
      return states.filter((_, i) => String(i) !== change.id);
    case 'promote':
      return states.map((state, i) => (String(i) === change.id ? 'up' : state));
  }
}

const cases = [1, 2, 3, 4, 5].flatMap((n) =>
  [...everyCluster(n)].flatMap((states) => changes(n).map((change) => ({ states, change }))),
);
const verdict = (states: readonly State[], change: MembershipChange, alarms?: readonly string[]) =>
  gate(observed(states, alarms), change).allowed;

describe(`every state of up to five members and every change (${String(cases.length)} cases)`, () => {
  const allowed = cases.filter(({ states, change }) => verdict(states, change));

  test('an allowed change finds quorum and keeps it, whatever state the unknown members have', () => {
    for (const { states, change } of allowed)
      for (const truth of truths(states)) {
        if (hasQuorum(truth) && hasQuorum(after(truth, change)) && voters(after(truth, change)).length > 0) continue;
        expect.fail(`${JSON.stringify(change)} of ${states.join(', ')}`);
      }
  });

  test('without quorum every change is refused', () => {
    const without = cases.filter(({ states }) => ![...truths(states)].every(hasQuorum));
    expect(without.filter(({ states, change }) => verdict(states, change))).toEqual([]);
  });

  test('a removal that leaves quorum for certain is never refused', () => {
    const safe = cases.filter(
      ({ states, change }) =>
        change.kind === 'remove' &&
        voters(after(states, change)).length > 0 &&
        [...truths(states)].every((truth) => hasQuorum(truth) && hasQuorum(after(truth, change))),
    );
    expect(safe.filter(({ states, change }) => !verdict(states, change))).toEqual([]);
    expect(safe.length).toBeGreaterThan(500);
  });

  test('a member is added only if all members have started and are healthy, and none is a learner', () => {
    const added = allowed.filter(({ change }) => change.kind === 'add');
    expect(added.map(({ states }) => states.join(' '))).toEqual([1, 2, 3, 4, 5].map((n) => 'up '.repeat(n).trim()));
  });

  test('only learners are promoted', () => {
    const promoted = allowed.filter(({ change }) => change.kind === 'promote');
    expect(
      promoted.every(({ states, change }) => change.kind !== 'add' && states[Number(change.id)] === 'learner'),
    ).toBe(true);
  });

  test('with an alarm every change is refused', () => {
    expect(cases.filter(({ states, change }) => verdict(states, change, ['NOSPACE on 1']))).toEqual([]);
  });
});

test('a learner that is not in sync is not promoted', () => {
  expect(verdict(['up', 'learner'], { kind: 'promote', id: '1', inSync: false })).toBe(false);
});

test('a refusal shows the arithmetic', () => {
  expect(gate(observed(['up', 'up', 'down']), { kind: 'remove', id: '0' })).toEqual({
    allowed: false,
    why: '2 of 3 voters healthy, quorum 2; without cp1 1 of 2 would be healthy, quorum 2',
  });
  expect(gate(observed(['up', 'down']), { kind: 'remove', id: '1' })).toEqual({
    allowed: false,
    why: 'etcd has no quorum: 1 of 2 voters healthy, quorum 2',
  });
  expect(gate(observed(['up']), { kind: 'remove', id: '0' })).toEqual({ allowed: false, why: 'cp1 is the last voter' });
  expect(gate(observed(['up', 'up', 'up']), { kind: 'remove', id: '2' })).toEqual({
    allowed: true,
    why: '3 of 3 voters healthy, quorum 2; without cp3 2 of 2 would be healthy, quorum 2',
  });
});
