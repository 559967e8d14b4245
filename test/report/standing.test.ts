import { expect, test } from 'vitest';
import { standing } from '../../src/report/standing.ts';

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
