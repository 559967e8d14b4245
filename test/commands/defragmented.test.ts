import { describe, expect, test } from 'vitest';
import {
  defragmentedJson,
  defragmentedText,
  defragmentPlanText,
  spaceLeftText,
} from '../../src/commands/etcd-defragment.ts';
import { memberOf, spaceOf } from '../fakes/cluster.ts';
import { faultsIn } from '../tools/documents.ts';

const before = {
  members: [memberOf(1, spaceOf(100, 100, 100)), memberOf(2, spaceOf(100, 90, 100))],
  alarms: ['NOSPACE on 1'],
};
const after = {
  members: [memberOf(1, spaceOf(20, 20, 100)), memberOf(2, spaceOf(100, 90, 100))],
  alarms: [],
};
const done = new Set(['1']);

describe('what is said of etcd’s space', () => {
  test('before: the order, sizes and quota of each member, and what happens to the alarm', () => {
    const text = defragmentPlanText('demo', before, [before.members[1]!, before.members[0]!]);
    expect(text).toContain('etcd of demo, with the alarm NOSPACE on 1\n');
    expect(text).toMatch(/1 +cp2 +follower +100 MiB +90\.0 MiB +10\.0 MiB +100 MiB\n +2 +cp1 +leader/);
    expect(text).toContain('compacts etcd to its current revision first');
  });

  test('after: the sizes before and after, which members were left, and that the alarm is gone', () => {
    const text = defragmentedText({ before, after, done });
    expect(text).toMatch(/cp1 +100 MiB +20\.0 MiB +20\.0 MiB +100 MiB\n/);
    expect(text).toMatch(/cp2 +100 MiB +left +90\.0 MiB +100 MiB\n/);
    expect(text).toContain('the alarm NOSPACE is disarmed, and etcd takes writes again');
  });

  test('a quota that is too small is a warning, with the setting that raises it', () => {
    expect(spaceLeftText(after)).toContain('`kubeadm.cluster.etcd.local.extraArgs`');
    expect(spaceLeftText({ members: [], alarms: [] })).toBe('');
  });

  test('for programs: bytes', () => {
    const made = defragmentedJson('demo', { before, after, done });
    expect(faultsIn('defragment', made)).toEqual([]);
    expect(made).toMatchObject({
      cluster: 'demo',
      alarms: { before: ['NOSPACE on 1'], after: [] },
      members: [
        { name: 'cp1', defragmented: true, dbSizeBefore: 104_857_600, dbSize: 20_971_520, dbSizeQuota: 104_857_600 },
        { name: 'cp2', defragmented: false },
      ],
      warnings: [{ message: expect.stringContaining('cp2 has') as string }],
    });
  });
});
