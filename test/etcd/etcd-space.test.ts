import { describe, expect, test } from 'vitest';
import {
  DEFRAGMENT,
  isBelowQuota,
  isFragmented,
  needsRoom,
  RAISE_QUOTA,
  spaceFindings,
  spaceText,
} from '../../src/etcd/space.ts';
import { memberOf, spaceOf } from '../fakes/cluster.ts';

const member = (...space: Parameters<typeof spaceOf>) => memberOf(1, spaceOf(...space));

describe('a member', () => {
  test('is fragmented when a tenth of its database, and 10 MiB or more, are free pages', () => {
    expect(isFragmented(member(100, 90))).toBe(true);
    expect(isFragmented(member(100, 91))).toBe(false);
    expect(isFragmented(member(20, 11))).toBe(false);
    expect(isFragmented(memberOf(1))).toBe(false);
  });

  test('needs room under the alarm also when its database is small, or has little to reclaim near its quota', () => {
    expect(needsRoom(member(20, 11))).toBe(true);
    expect(needsRoom(member(90, 89, 100))).toBe(true);
    expect(needsRoom(member(20, 19, 100))).toBe(false);
  });

  test('is not known to be below a quota that it did not tell; a negative quota is no limit', () => {
    expect(isBelowQuota(member(99, 1, 100))).toBe(true);
    expect(isBelowQuota(member(100, 1, 100))).toBe(false);
    expect(isBelowQuota(memberOf(1))).toBe(false);
    expect(isBelowQuota(memberOf(1, { dbSize: 100, dbSizeQuota: -1 }))).toBe(true);
  });

  test('is described with what is known of its space', () => {
    expect(spaceText(member(1700, 1650))).toBe('cp1 has 1700 MiB (1650 MiB in use) of its quota of 2048 MiB');
    expect(spaceText(memberOf(1, { dbSize: 1_572_864 }))).toBe('cp1 has 1.5 MiB');
  });
});

describe('the space of etcd', () => {
  test('has no finding while all members are below 80% of their quota', () => {
    expect(spaceFindings([member(80, 80, 100), memberOf(2)], [])).toEqual([]);
  });

  test('is an error under the alarm NOSPACE, whatever the sizes are', () => {
    expect(spaceFindings([member(90, 90, 100)], ['NOSPACE on 1'])).toMatchObject([
      { severity: 'error', remedy: DEFRAGMENT },
    ]);
  });

  test('is a warning of the fullest member: defragment it, or raise the quota if data fills it', () => {
    const members = [member(85, 20, 100), memberOf(2, spaceOf(95, 20, 100))];
    expect(spaceFindings(members, [])).toMatchObject([
      { severity: 'warning', message: expect.stringMatching(/^cp2 has 95/) as string, remedy: DEFRAGMENT },
    ]);
    expect(spaceFindings([member(95, 81, 100)], [])).toMatchObject([{ severity: 'warning', remedy: RAISE_QUOTA }]);
    expect(RAISE_QUOTA).toContain('kubeadm.cluster.etcd.local.extraArgs');
  });
});
