/** Draws the run of a fleet of 201 hosts, each with a finding. With the argument `middle` it ends while 30 hosts are at work. */
import type { CheckedFinding } from '../../src/engine/check.ts';
import type { Event } from '../../src/engine/event.ts';
import type { PlannedChange } from '../../src/engine/plan.ts';
import type { Phase } from '../../src/engine/step.ts';
import { findingsText } from '../../src/report/findings.ts';
import { planText } from '../../src/report/plan.ts';
import { lookOf } from '../../src/report/terminal.ts';
import { drawnReporter } from '../fakes/drawn-reporter.ts';

const WORKERS = Array.from({ length: 200 }, (_, i) => `w${String(i + 1)}`);
const phase = (name: string, title: string): Phase => ({ kind: 'cluster', name, title, hosts: [], steps: [] });
const PHASES = [
  phase('init', 'Initialize the cluster'),
  phase('join', 'Join workers'),
  phase('verify', 'Verify nodes'),
];

const findings = WORKERS.map((host): CheckedFinding => ({
  check: 'time-sync',
  page: 'docs/checks.md#time-sync',
  severity: 'warning',
  host,
  message: 'runs no time service',
  remedy: 'install chrony',
}));
const ignored = WORKERS.map((host): CheckedFinding => ({
  check: 'disk-sync',
  page: 'docs/checks.md#disk-sync',
  severity: 'warning',
  host,
  message: 'the disk was not measured',
  ignored: true,
}));
const changes = WORKERS.map((host): PlannedChange => {
  const summary = `join ${host} to k8s.example:6443 as a worker`;
  return { phase: 'join', host, step: 'kubeadm-join', summary, change: { summary, apply: () => Promise.resolve() } };
});
process.stderr.write(findingsText([...findings, ...ignored]));
process.stderr.write(planText(PHASES, changes));

const reporter = drawnReporter(PHASES, {
  stream: process.stderr,
  nowMs: Date.now,
  look: lookOf(process.env, process.argv.includes('--no-color') ? 'never' : undefined),
});
const report = (event: Event): void => {
  reporter.report({ time: new Date().toISOString(), ...event });
};
const pause = () => new Promise((resolve) => setTimeout(resolve, 300));
const at = (host: string) => ({ phase: 'join', host, step: 'kubeadm-join' });

report({ kind: 'phase-started', phase: 'init', title: 'Initialize the cluster', hosts: ['cp1'] });
report({ kind: 'host-started', phase: 'init', host: 'cp1' });
report({ kind: 'host-done', phase: 'init', host: 'cp1', changes: 1, durationMs: 1 });
report({ kind: 'phase-done', phase: 'init', changes: 1, durationMs: 1 });
report({ kind: 'phase-started', phase: 'join', title: 'Join workers', hosts: WORKERS });
for (const [index, host] of WORKERS.entries()) {
  report({ kind: 'host-started', phase: 'join', host });
  report({ kind: 'changing', ...at(host), summary: 'join the cluster' });
  if (index < 30) continue;
  const before = WORKERS[index - 30]!;
  if (before === 'w7') report({ kind: 'failed', ...at(before), summary: 'status 1', exitCode: 4 });
  else report({ kind: 'host-done', phase: 'join', host: before, changes: 1, durationMs: 1 });
  if (index === 166 && process.argv.includes('middle')) {
    await pause();
    process.exit(0);
  }
}
for (const host of WORKERS.slice(-30)) report({ kind: 'host-done', phase: 'join', host, changes: 1, durationMs: 1 });
report({ kind: 'phase-done', phase: 'join', changes: 199, durationMs: 1 });
await pause();
report({ kind: 'done', changes: 200, failed: ['w7'], durationMs: 1 });
await reporter.close();
