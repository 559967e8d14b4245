import { expect, test } from 'vitest';
import { markerOf } from '../../src/facts/marker.ts';

const WRITTEN = '{"cluster":"prod","action":"join","job":"kubeadm-join-1"}\n';

test('a marker is what was written, and nothing is no marker', () => {
  expect(markerOf(WRITTEN)).toEqual({ cluster: 'prod', action: 'join', job: 'kubeadm-join-1' });
  expect(markerOf('absent\n')).toBe('absent');
});

test.each([
  ['empty', ''],
  ['zeros, as after a power failure', '\0'.repeat(60)],
  ['cut off', WRITTEN.slice(0, 30)],
  ['another file’s content', 'apiVersion: v1\n'],
  ['no object', 'null'],
  ['of another shape', '{"cluster":["prod"],"action":"join","job":"x"}'],
  ['of a newer kbuild', '{"cluster":"prod","action":"levitate","job":"x"}'],
])('%s: unreadable, never absent', (_, text) => {
  expect(markerOf(text)).toBe('unreadable');
});
