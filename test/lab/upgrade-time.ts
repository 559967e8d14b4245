/** What the time of an upgrade went to, from the run's log. */
import { readFileSync } from 'node:fs';
import type { TimedEvent } from '../../src/engine/event.ts';
import { SETTLED_MS } from '../../src/kubeadm/ready.step.ts';

/** One line of a run's log: an event, or a command that ended at `time`. */
type Line =
  | TimedEvent
  | {
      readonly time: string;
      readonly kind?: undefined;
      readonly host: string;
      readonly command: string;
      readonly durationMs: number;
    };

/** A part of the run, in ms since the epoch. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Seconds of an upgrade by whose they are. Each moment counts once, for the first that claims it, in this order.
 *
 * - `kubeadm`: its jobs, whole, so with the restarts of static pods that it waits for, and with the probes of each component at its own
 *   port, without which kubeadm's word for success is worth nothing.
 * - `drains`: evictions, and the wait until the workloads that left a node, or its pods of DaemonSets, are ready as before.
 * - `downloads`: packages and images, before anything restarts. They depend on the network, and kubeadm would pull the images itself.
 * - `watching`: the components of every control plane must have run for 30 s when its step ends, after its last change: time that passes, however
 *   quick kbuild is, and also where it waits for something else meanwhile.
 * - `comingBack`: what else a step waits for after its change: a kubelet that kbuild has restarted, static pods that it starts anew, a node that
 *   becomes Ready. kbuild cannot hurry them. They count as kbuild's own all the same: it chose to restart them, and it could wait
 *   badly, by too long a pause or by slow observations.
 * - `computing`: all the rest: packages, snapshots, gates, observations, connections, kbuild itself.
 */
export interface UpgradeTime {
  readonly whole: number;
  readonly kubeadm: number;
  readonly drains: number;
  readonly downloads: number;
  readonly watching: number;
  readonly comingBack: number;
  readonly computing: number;
}

/** kbuild's own part: what it adds to kubeadm, the drains, the downloads and the 30 s. */
export const ownPart = ({ comingBack, computing }: UpgradeTime): number => comingBack + computing;

const ms = ({ time }: { readonly time: string }): number => Date.parse(time);

const linesOf = (log: string): readonly Line[] =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

const jobs = (lines: readonly Line[], names: RegExp): readonly Span[] =>
  lines.flatMap((line) =>
    line.kind === undefined && names.test(line.command) ? [{ from: ms(line) - line.durationMs, to: ms(line) }] : [],
  );

/** The 30 s before the end of each wait for components to have run as long, as far as they follow the last change on that host. */
function watched(lines: readonly Line[]): readonly Span[] {
  const found: Span[] = [];
  const changedMs = new Map<string, number>();
  const waiting = new Set<string>();
  for (const line of lines) {
    if (line.kind === undefined || !('host' in line)) continue;
    const { host } = line;
    if (line.kind === 'settling' && line.step === 'components-settled') waiting.add(host);
    if (!['changing', 'changed', 'host-done', 'failed'].includes(line.kind)) continue;
    const to = ms(line);
    if (waiting.delete(host)) found.push({ from: Math.max(to - SETTLED_MS, changedMs.get(host) ?? to), to });
    if (line.kind === 'changed') changedMs.set(host, to);
  }
  return found;
}

/** From the first report that a step waits until the next thing that happens on its host. */
function waits(lines: readonly Line[], isMeant: (step: string) => boolean): readonly Span[] {
  const found: Span[] = [];
  const since = new Map<string, number>();
  for (const line of lines) {
    if (line.kind === undefined || !('host' in line)) continue;
    const from = since.get(line.host);
    if (line.kind === 'settling') {
      if (isMeant(line.step)) since.set(line.host, from ?? ms(line));
      continue;
    }
    if (from === undefined || !['changing', 'changed', 'host-done', 'failed'].includes(line.kind)) continue;
    found.push({ from, to: ms(line) });
    since.delete(line.host);
  }
  return found;
}

const phase = (lines: readonly Line[], name: string): readonly Span[] =>
  lines.flatMap((line) =>
    line.kind === 'phase-done' && line.phase === name ? [{ from: ms(line) - line.durationMs, to: ms(line) }] : [],
  );

/** The parts of a span outside of others. */
const outside = (span: Span, others: readonly Span[]): readonly Span[] =>
  others.reduce<readonly Span[]>(
    (left, other) =>
      left.flatMap(({ from, to }) =>
        [
          { from, to: Math.min(to, other.from) },
          { from: Math.max(from, other.to), to },
        ].filter((part) => part.from < part.to),
      ),
    [span],
  );

const seconds = (spans: readonly Span[]): number => spans.reduce((sum, { from, to }) => sum + (to - from) / 1000, 0);

/** Reads the log of one `kbuild upgrade`. @throws Error if the run has not ended */
export function timeOfUpgrade(log: string): UpgradeTime {
  const lines = linesOf(log);
  if (!lines.some(({ kind }) => kind === 'done')) throw new Error(`${log} is not the log of a run that has ended`);
  // Whole: with the login, the first observation and the checks.
  const run: Span = { from: ms(lines[0]!), to: ms(lines.at(-1)!) };
  const claimed: Span[] = [];
  const claim = (spans: readonly Span[]): number => {
    let sum = 0;
    for (const span of spans) {
      const within = { from: Math.max(span.from, run.from), to: Math.min(span.to, run.to) };
      const own = within.from < within.to ? outside(within, claimed) : [];
      claimed.push(...own);
      sum += seconds(own);
    }
    return sum;
  };
  const parts = {
    kubeadm: claim(jobs(lines, /^job (kubeadm-|etcd-minimum-|etcd-upgrade-)/)),
    drains: claim(jobs(lines, /^job (drain|workloads-back)-/)),
    downloads: claim(phase(lines, 'fetch')),
    watching: claim(watched(lines)),
    comingBack: claim(waits(lines, (step) => step !== 'components-settled')),
  };
  return { ...parts, whole: seconds([run]), computing: seconds(outside(run, claimed)) };
}

/** One line for people. */
export const toldTime = (time: UpgradeTime): string => {
  const rounded = (part: number): string => `${part.toFixed(0)} s`;
  return (
    `kubeadm ${rounded(time.kubeadm)}, drains ${rounded(time.drains)}, downloads ${rounded(time.downloads)}, watching control planes ${rounded(time.watching)}, ` +
    `kbuild's own ${rounded(ownPart(time))}, of which ${rounded(time.comingBack)} waiting for what it restarted`
  );
};
