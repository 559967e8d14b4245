/**
 * Brings hosts to their state by the real engine, without connections, and prints what that costs in CPU and memory.
 * Arguments: `drawn` or `silent`, the number of hosts, of phases, of steps a phase (0: only the tasks).
 * `node --expose-gc --import tsx test/bench/converge.ts drawn 200 10 4`
 */
import type { Fleet, Observed } from '../../src/cluster/fleet/fleet.ts';
import type { LinuxFacts } from '../../src/cluster/fleet/linux.ts';
import { converge } from '../../src/engine/converge.ts';
import type { Event } from '../../src/engine/event.ts';
import { observations } from '../../src/engine/observations.ts';
import { changeId, plan } from '../../src/engine/plan.ts';
import type { Phase, Step } from '../../src/engine/step.ts';
import type { Inventory, LinuxHost } from '../../src/inventory/inventory.ts';
import { runProgress } from '../../src/report/run-progress.ts';
import { RunRenderer, type TerminalStream } from '../../src/report/run-renderer.ts';
import { lookOf } from '../../src/report/terminal.ts';

const [shown, hostCount, phaseCount, stepCount] = process.argv.slice(2) as [string, string, string, string];
const hosts = Array.from(
  { length: Number(hostCount) },
  (_, i) => ({ name: `w${String(i + 1)}`, role: 'worker', os: 'linux' }) as LinuxHost,
);
const words = new Map(hosts.map(({ name }) => [name, new Set<string>()]));

/** Like a change on a host: 20 to 140 ms, the same in every run. */
let seed = 7;
const changing = (): Promise<void> => {
  seed = (seed * 1_103_515_245 + 12_345) & 0x7f_ff_ff_ff;
  return new Promise((resolve) => setTimeout(resolve, 20 + (seed % 120)));
};

const stepOf = (word: string): Step => ({
  name: word,
  diff: ({ host, facts }) =>
    facts.images.has(word)
      ? []
      : [
          {
            summary: `install part ${word} of what this host gets (found none)`,
            touches: 'host',
            apply: async () => {
              await changing();
              words.get(host.name)!.add(word);
            },
          },
        ],
});

const phases = Array.from({ length: Number(phaseCount) }, (_, p): Phase => ({
  name: `p${String(p)}`,
  title: `Part ${String(p)} of the installation`,
  kind: 'linux',
  hosts,
  ...(p > 0 && p < 5 ? { overlaps: true } : {}),
  steps: Array.from({ length: Number(stepCount) }, (__, s) => stepOf(`${String(p)}.${String(s)}`)),
}));
const inventory = {
  name: 'bench',
  hosts,
  rollout: { maxUnavailable: { percent: 10 }, drainTimeoutMs: 1, pauseMs: 0 },
} as unknown as Inventory;
const see = ({ name }: { readonly name: string }): LinuxFacts =>
  ({ images: words.get(name), hostname: name, bootId: 'b' }) as unknown as LinuxFacts;
const fleet = (): Fleet => ({
  hosts: hosts.map((host): Observed => ({ os: 'linux', host, facts: see(host) })),
  unreachable: [],
  cluster: { state: 'absent' },
});

let written = 0;
const stream = {
  columns: 80,
  rows: 24,
  write: () => Boolean((written += 1)),
  on: () => stream,
  off: () => stream,
} as unknown as TerminalStream;
const nowMs = (): number => performance.timeOrigin + performance.now();
const progress = runProgress(phases);
const look = lookOf({}, 'never');
const display = { renderer: RunRenderer as never, rendererOptions: { progress, stream, nowMs, look } };

const heapMiB = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1024 / 1024;
};
let events = 0;
let mostMiB = 0;
const emit = (event: Event): void => {
  events += 1;
  if (shown === 'drawn') progress.note({ time: new Date(nowMs()).toISOString(), ...event });
  // The tasks of a group are kept until the next one begins. Where steps do something, this would be most of the CPU.
  if (event.kind === 'done' || (stepCount === '0' && event.kind === 'phase-done'))
    mostMiB = Math.max(mostMiB, heapMiB());
};
const run = {
  inventory,
  phases,
  held: () => Promise.resolve(0),
  observations: observations(fleet(), {
    facts: (one, names) => {
      const all = see(one) as unknown as Record<string, unknown>;
      return Promise.resolve(Object.fromEntries(names.map((name) => [name, all[name]])));
    },
    cluster: () => Promise.resolve({ state: 'absent' }),
    clusterFacts: ['hostname'],
    nowMs,
  }),
  on: (() => ({})) as never,
  planned: new Set(plan(phases, inventory, fleet()).changes.map(changeId)),
  approve: () => Promise.resolve(false),
  emit,
  display: shown === 'drawn' ? display : undefined,
  concurrency: 30,
  signal: new AbortController().signal,
  nowMs,
  sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
};
const beforeMiB = heapMiB();
const cpu = process.cpuUsage();
const { changes } = await converge(run);
const { user, system } = process.cpuUsage(cpu);
console.log(
  `${shown}: ${String(changes)} changes, ${String(events)} events, ${String(written)} drawings, ` +
    `CPU ${((user + system) / 1e6).toFixed(2)} s, ${(mostMiB - beforeMiB).toFixed(1)} MiB more memory`,
);
