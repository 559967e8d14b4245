import { describe, expect, test } from 'vitest';
import { isUndoable, markerOf } from '../../src/kubeadm/marker.facts.ts';

const WRITTEN = '{"cluster":"prod","action":"join","job":"kubeadm-join-1"}\n';

test('a marker is what was written, and nothing is no marker', () => {
  expect(markerOf(WRITTEN)).toEqual({ cluster: 'prod', action: 'join', job: 'kubeadm-join-1', stage: 'begun' });
  expect(markerOf('absent\n')).toBe('absent');
});

test.each([
  ['empty', ''],
  ['zeros, as after a power failure', '\0'.repeat(60)],
  ['cut off', WRITTEN.slice(0, 30)],
  ['another file’s content', 'apiVersion: v1\n'],
  ['no object', 'null'],
  ['of another shape', '{"cluster":["prod"],"action":"join","job":"x"}'],
])('%s: unreadable, never absent', (_, text) => {
  expect(markerOf(text)).toBe('unreadable');
});

describe('what a marker lets kbuild undo', () => {
  const of = (action: string, stage?: string) =>
    isUndoable(
      markerOf(JSON.stringify({ cluster: 'prod', action, job: 'x', ...(stage === undefined ? {} : { stage }) })),
    );

  test.each(['init', 'join', 'reset'])('an %s that was begun', (action) => {
    expect(of(action)).toBe(true);
    expect(of(action, 'begun')).toBe(true);
  });

  test('no init or join that kubeadm has ended; a reset is gone on with', () => {
    expect([of('init', 'done'), of('join', 'done'), of('reset', 'done')]).toEqual([false, false, true]);
  });

  test.each([
    ['upgrade', 'begun'],
    ['levitate', 'begun'],
    ['init', 'halfway'],
  ])('never an action or a stage that this version does not know: %s, %s', (action, stage) => {
    expect(of(action, stage)).toBe(false);
  });

  test('nothing without a marker that can be read', () => {
    expect([isUndoable('absent'), isUndoable('unreadable')]).toEqual([false, false]);
  });
});
