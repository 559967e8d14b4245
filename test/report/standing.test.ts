import { describe, expect, test } from 'vitest';
import { standing } from '../../src/report/lines.ts';

const place = { phase: 'packages', step: 'install' };

test('before the first change there is nothing', () => {
  expect(standing().text()).toBe('nothing was changed yet');
});

test('it tells what was done and what is under way, and forgets what failed', () => {
  const stands = standing();
  stands.note({ kind: 'changing', ...place, host: 'w1', summary: 'install kubelet' });
  stands.note({ kind: 'changing', ...place, host: 'w2', summary: 'install kubeadm' });
  expect(stands.text()).toBe('nothing was changed yet; under way: w1: install kubelet; w2: install kubeadm');
  stands.note({ kind: 'changed', ...place, host: 'w1', summary: 'install kubelet', durationMs: 1 });
  stands.note({ kind: 'failed', ...place, host: 'w2', summary: 'no', exitCode: 4 });
  expect(stands.text()).toBe('changes made so far: 1');
});

test('it tells what is waited for, until the change or the host is done', () => {
  const stands = standing();
  stands.note({ kind: 'changing', ...place, host: 'w1', summary: 'install kubelet' });
  stands.note({ kind: 'job-waits', host: 'w1', summary: 'packages.example: no answer for 30 s' });
  stands.note({ kind: 'settling', ...place, host: 'w2', summary: 'wait until w2 is Ready', waitedMs: 0 });
  expect(stands.text()).toBe(
    'nothing was changed yet; under way: w1: install kubelet; waiting: w1: packages.example: no answer for 30 s; w2: wait until w2 is Ready',
  );
  stands.note({ kind: 'changed', ...place, host: 'w1', summary: 'install kubelet', durationMs: 1 });
  stands.note({ kind: 'host-done', phase: 'verify', host: 'w2', changes: 0, durationMs: 1 });
  expect(stands.text()).toBe('changes made so far: 1');
});

describe('the last line of a run', () => {
  const changed = (host: string, phase = 'packages') =>
    ({ kind: 'changed', phase, host, step: 's', summary: 'install kubelet', durationMs: 1 }) as const;

  test('says what was changed, on how many hosts and in how long', () => {
    const stands = standing();
    stands.note({ kind: 'locked', hosts: 3 });
    for (const host of ['w1', 'w2', 'w2']) stands.note(changed(host));
    stands.note(changed('w1', 'join'));
    expect(stands.closing(0, 72_400)).toBe('done: 4 changes on 2 hosts in 1 min 12 s (packages, join)');
    expect(stands.closing(130, 8400)).toBe('interrupted: 4 changes on 2 hosts in 8.4 s (packages, join)');
    stands.note({ kind: 'failed', ...place, host: 'w3', summary: 'no', exitCode: 4 });
    expect(stands.closing(4, 8400)).toBe('not finished: 4 changes on 2 hosts in 8.4 s (packages, join); failed: w3');
  });

  test('accounts for planned changes that were not needed any more (D27)', () => {
    const stands = standing();
    stands.note({ kind: 'locked', hosts: 3 });
    stands.plan(5);
    stands.note({ ...place, kind: 'unplanned', host: 'w1', summary: 'install kubelet' });
    for (const host of ['w1', 'w2', 'w3']) stands.note(changed(host));
    expect(stands.closing(0, 1000)).toBe(
      'done: 3 changes on 3 hosts in 1.0 s (packages); 3 planned changes turned out not to be needed',
    );
    expect(stands.closing(4, 1000)).toBe('not finished: 3 changes on 3 hosts in 1.0 s (packages)');
  });

  test('says that nothing was changed, too', () => {
    const stands = standing();
    stands.note({ kind: 'locked', hosts: 3 });
    expect(stands.closing(0, 1000)).toBe('done: nothing was changed in 1.0 s');
  });

  test('is none where no host was locked', () => {
    expect(standing().closing(0, 1000)).toBeUndefined();
  });
});
