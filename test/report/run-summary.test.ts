import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/engine/event.ts';
import { jsonReporter } from '../../src/report/json.ts';
import { summarizedRun, summaryText } from '../../src/report/run-summary.ts';
import { outputFaults } from '../tools/documents.ts';

const place = (host: string, step = 'kubeadm-init') => ({ phase: 'init', host, step });
const started = (...hosts: readonly string[]): Event => ({
  kind: 'phase-started',
  phase: 'init',
  title: 'Init',
  hosts,
});
const changed = (host: string, summary: string, durationMs: number): Event => ({
  kind: 'changed',
  ...place(host),
  summary,
  durationMs,
});
const waits = (host: string, waitedMs: number): Event => ({
  kind: 'settling',
  ...place(host, 'ready'),
  summary: 'the node is not Ready',
  waitedMs,
});

const summaryOf = (...events: readonly Event[]) => {
  const run = summarizedRun();
  events.forEach(run.note);
  return run.summary();
};
const RUN: readonly Event[] = [
  { kind: 'unreachable', host: 'w3', message: 'no answer' },
  started('cp1', 'w1', 'w2'),
  changed('cp1', 'run kubeadm init', 24_100),
  changed('cp1', 'write a file', 20),
  waits('cp1', 10_000),
  waits('cp1', 20_000),
  { kind: 'failed', ...place('w2'), summary: 'no space left', exitCode: 4 },
];

test('names what became of each host, and what took longest', () =>
  expect(summaryText(summaryOf(...RUN)!, false)).toBe(
    [
      'what took longest',
      '  24.1 s  cp1  run kubeadm init',
      '  20.0 s  cp1  waited: the node is not Ready',
      'hosts',
      '  cp1  changed (2 changes)',
      '  w1   unchanged',
      '  w2   failed',
      '  w3   left out',
      '',
    ].join('\n'),
  ));

test('is short in CI: hosts by their result', () =>
  expect(summaryText(summaryOf(...RUN)!, true)).toBe(
    [
      'what took longest',
      '  24.1 s  cp1  run kubeadm init',
      '  20.0 s  cp1  waited: the node is not Ready',
      'hosts',
      '  changed: cp1',
      '  unchanged: w1',
      '  failed: w2',
      '  left out: w3',
      '',
    ].join('\n'),
  ));

test('is an event as docs/schemas has it', () => {
  const lines: string[] = [];
  jsonReporter((text) => lines.push(text)).report({ ...summaryOf(...RUN)!, time: '2026-11-28T10:00:00.000Z' });
  expect(outputFaults(['up', '--json'], lines.join(''))).toEqual([]);
});

describe('is', () => {
  test('nothing after a run that changed nothing', () => {
    expect(summaryOf(started('cp1', 'w1'))).toBeUndefined();
    expect(summaryOf({ kind: 'unreachable', host: 'w3', message: 'no answer' })).toBeUndefined();
  });

  test('without what took less than a second', () =>
    expect(summaryText(summaryOf(started('cp1'), changed('cp1', 'write a file', 999))!, false)).toBe(
      'hosts\n  cp1  changed (1 change)\n',
    ));

  test('the ten longest of many, three in CI, and many hosts share lines', () => {
    const hosts = Array.from({ length: 50 }, (_, i) => `w${String(i)}`);
    const summary = summaryOf(started(...hosts), ...hosts.map((host, i) => changed(host, 'install', 1000 + i)))!;
    expect(summary.longest.map(({ host }) => host)).toEqual(hosts.slice(40).toReversed());
    expect(summaryText(summary, false).split('\n')).toHaveLength(14);
    expect(summaryText(summary, true).split('\n')).toHaveLength(7);
  });

  test('about a host that came back what became of it then', () =>
    expect(
      summaryOf(
        { kind: 'unreachable', host: 'w3', message: 'no answer' },
        started('w3'),
        { kind: 'host-started', phase: 'init', host: 'w3' },
        changed('w3', 'install', 10),
      )?.hosts,
    ).toEqual([{ host: 'w3', result: 'changed', changes: 1 }]));
});
