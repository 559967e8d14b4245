/** Draws a run on the terminal it is started on, as `up` does: two phases, long summaries, a job that waits. */
import type { Event } from '../../src/engine/event.ts';
import type { Phase } from '../../src/engine/step.ts';
import { lookOf } from '../../src/report/terminal.ts';
import { drawnReporter } from '../fakes/drawn-reporter.ts';

const HOSTS = ['worker-one', 'worker-two'];
const phase = (name: string, title: string): Phase => ({ kind: 'cluster', name, title, hosts: [], steps: [] });
const PHASES = [
  phase('packages', 'Install the packages kubelet, kubeadm and kubectl'),
  phase('join', 'Join the workers'),
];
const reporter = drawnReporter(PHASES, {
  stream: process.stderr,
  nowMs: Date.now,
  look: lookOf(process.env, process.argv.includes('--no-color') ? 'never' : undefined),
});
const report = (event: Event): void => {
  reporter.report({ time: new Date().toISOString(), ...event });
};
/** Long enough that it is drawn several times. */
const drawn = () => new Promise((resolve) => setTimeout(resolve, 300));

for (const { name, title } of PHASES) {
  report({ kind: 'phase-started', phase: name, title, hosts: HOSTS });
  for (const host of HOSTS) {
    report({ kind: 'host-started', phase: name, host });
    report({
      kind: 'changing',
      phase: name,
      host,
      step: name,
      summary: `${name}: a change that takes more than forty columns`,
    });
  }
  await drawn();
  report({
    kind: 'job-waits',
    host: HOSTS[0]!,
    summary: '/var/lib/dpkg/lock-frontend is held by process 812 (apt-get)',
  });
  await drawn();
  for (const host of HOSTS) report({ kind: 'host-done', phase: name, host, changes: 1, durationMs: 600 });
  report({ kind: 'phase-done', phase: name, changes: 2, durationMs: 600 });
}
report({ kind: 'done', changes: 4, failed: [], durationMs: 1200 });
await reporter.close();
