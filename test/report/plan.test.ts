import { expect, test } from 'vitest';
import type { PlannedChange } from '../../src/engine/plan.ts';
import type { Phase } from '../../src/engine/step.ts';
import { planText } from '../../src/report/plan.ts';

const phases = [
  { name: 'prepare', title: 'Prepare hosts' },
  { name: 'verify', title: 'Verify nodes' },
] as unknown as readonly Phase[];
const apply = (): Promise<void> => Promise.resolve();
const change = (host: string, summary: string): PlannedChange => ({
  phase: 'prepare',
  host,
  step: 's',
  summary,
  change: { summary, apply },
});
const wait = (host: string, summary: string): PlannedChange => ({
  phase: 'verify',
  host,
  step: 'node-ready',
  summary,
  change: { summary },
});

test('the same change of several hosts is said once, and what is only waited for is no change', () => {
  const changes = [change('w1', 'turn swap off'), change('w2', 'turn swap off'), wait('w1', 'wait until w1 is Ready')];
  expect(planText(phases, changes)).toBe(
    'Prepare hosts\n  w1, w2: turn swap off\n\nVerify nodes\n  w1: then wait until w1 is Ready\n\n2 changes on 2 hosts\n',
  );
});

test('one change is one change on one host', () => {
  expect(planText(phases, [change('w1', 'turn swap off')])).toMatch(/\n1 change on 1 host\n$/);
});

test('hosts beyond a handful are counted, and their names in a change are one', () => {
  const many = Array.from({ length: 200 }, (_, i) => change(`w${String(i + 1)}`, `join w${String(i + 1)} to k8s:6443`));
  expect(planText(phases, many)).toContain('\n  w1 … w200 (200 hosts): join HOST to k8s:6443\n');
});

test('what restarts is said before the sum, with the hosts, their turns and how long each takes', () => {
  const restarts = [
    { what: 'API server', hosts: ['cp1', 'cp2', 'cp3'], aboutMs: 70_000, atOnce: 1 },
    { what: 'kubelet', hosts: Array.from({ length: 200 }, (_, i) => `w${String(i + 1)}`), aboutMs: 10_000, atOnce: 20 },
    { what: 'containerd', hosts: ['w1'], aboutMs: 5000, atOnce: 1 },
  ];
  expect(planText(phases, [change('cp1', 'apply settings')], restarts)).toBe(
    `Prepare hosts
  cp1: apply settings

Restarts
  API server of cp1, cp2, cp3, one after another, about 70 s each
  kubelet of w1 … w200 (200 hosts), 20 at once, about 10 s each
  containerd of w1, about 5 s

1 change on 1 host
`,
  );
});

test('the pause between batches of workers is said where they restart', () => {
  const kubelets = { what: 'kubelet', hosts: ['w1', 'w2', 'w3'], aboutMs: 10_000 };
  const text = planText(
    phases,
    [change('w1', 'apply settings')],
    [
      { ...kubelets, atOnce: 1, pauseMs: 600_000 },
      { ...kubelets, atOnce: 3, pauseMs: 90_000 },
      { ...kubelets, atOnce: 2, pauseMs: 7_200_000 },
    ],
  );
  expect(text).toContain('w3, one after another, about 10 s each, with a pause of 10 min between batches\n');
  expect(text).toContain('w3, 3 at once, about 10 s each, with a pause of 90 s between batches\n');
  expect(text).toContain('w3, 2 at once, about 10 s each, with a pause of 2 h between batches\n');
});

test('a plan that only waits says that nothing changes', () => {
  expect(planText(phases, [wait('w1', 'wait until w1 is Ready')])).toBe(
    'Verify nodes\n  w1: wait until w1 is Ready\n\nnothing to change: the above is waited for\n',
  );
});

test('an empty plan is nothing to do', () => {
  expect(planText(phases, [])).toBe('nothing to do\n');
});
