import { expect, test } from 'vitest';
import { jobDeadline } from '../../src/session/options.ts';
import { jobDeadlineMs } from '../../src/ssh/deadlines.ts';
import { jobReport } from '../../src/ssh/job.ts';

test('every job has a deadline: its kind’s, or one for all others', () => {
  expect(jobDeadlineMs('packages')).toBe(30 * 60_000);
  expect(jobDeadlineMs('kubeadm-reset')).toBe(10 * 60_000);
  expect(jobDeadlineMs('anything else')).toBeGreaterThan(0);
});

test('KBUILD_JOB_DEADLINE takes the place of all of them', () => {
  expect(jobDeadline({})).toBeUndefined();
  expect(jobDeadline({ KBUILD_JOB_DEADLINE: '' })).toBeUndefined();
  expect(jobDeadline({ KBUILD_JOB_DEADLINE: '75s' })).toBe(75_000);
  expect(() => jobDeadline({ KBUILD_JOB_DEADLINE: 'soon' })).toThrow(
    expect.objectContaining({
      exitCode: 2,
      message: expect.stringContaining('KBUILD_JOB_DEADLINE="soon"') as string,
    }) as Error,
  );
});

test('a job that systemd has ended at its deadline is distinguished from a job that was killed', () => {
  const report = (result: string) => jobReport(`M started\nM done ${result}\n\nM end\n`, 'M');
  expect(report('timeout killed TERM')).toMatchObject({ kind: 'ended', status: 'SIGTERM (timeout)' });
  expect(report('signal killed KILL')).toMatchObject({ status: 'SIGKILL' });
});
