import { expect, test } from 'vitest';
import { jobReport } from '../../src/ssh/job.ts';

const of = (status: string, output = '') => jobReport(`m started\nm done ${status}\n${output}\nm end\n`, 'm');

test('output is what the job printed, to the byte', () => {
  expect(of('success exited 0', 'a\n\nx end\n')).toEqual({
    kind: 'ended',
    started: true,
    status: 0,
    stdout: 'a\n\nx end\n',
  });
});

test.each([
  ['exit-code exited 3', 3],
  ['signal killed KILL', 'SIGKILL'],
  ['success killed TERM', 'SIGTERM'],
  ['oom-kill killed KILL', 'SIGKILL (oom-kill)'],
  ['core-dump dumped SEGV', 'SIGSEGV (core-dump)'],
  ['resources unknown unknown', 'resources'],
  ['', 'unreadable'],
  ['succ', 'unreadable'],
  ['success exited', 'unreadable'],
  ['success exited x', 'unreadable'],
  ['success exited 0 of a newer version', 'unreadable'],
])('%s is %s', (line, status) => {
  expect(of(line)).toMatchObject({ status });
});

test('a channel that ended before the job leaves it open', () => {
  expect(jobReport('', 'm')).toEqual({ kind: 'open', started: false });
  expect(jobReport('m follow kbuild-job-x\nm started\n', 'm')).toEqual({ kind: 'open', started: true });
  expect(jobReport('m started\nm done success exited 0\nhalf of the outp', 'm')).toEqual({
    kind: 'open',
    started: true,
  });
});

test('a job that is not there any more is gone', () => {
  expect(jobReport('m gone\n', 'm')).toEqual({ kind: 'gone', started: false });
});
