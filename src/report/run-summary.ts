import type { Event } from '../engine/event.ts';
import { counted, hostList, lasting, table } from './text.ts';

/** The event that ends the events of a run: what became of its hosts, and what took long. */
export type RunSummary = Extract<Event, { readonly kind: 'summary' }>;

type HostResult = RunSummary['hosts'][number];
type Lasted = RunSummary['longest'][number];

/** How many of the longest changes and waits are named; in CI. */
const LONGEST = 10;
const LONGEST_SHORT = 3;

/** What takes less is not worth a line, in ms. */
const SHORTEST_MS = 1000;

/** More hosts of one result share a line. */
const ROWS = 40;

/** Follows the events of a run. */
interface SummarizedRun {
  readonly note: (event: Event) => void;
  /** Undefined if the run has changed nothing, and no host failed. */
  readonly summary: () => RunSummary | undefined;
}

/** Follows a run until its end. A wait counts with the longest time that its events report. */
export function summarizedRun(): SummarizedRun {
  const changes = new Map<string, number>();
  const failed = new Set<string>();
  const leftOut = new Set<string>();
  const lasted = new Map<string, Lasted>();
  const last = (key: string, one: Lasted): void => {
    if (one.durationMs >= Math.max(SHORTEST_MS, lasted.get(key)?.durationMs ?? 0)) lasted.set(key, one);
  };
  const resultOf = (host: string): HostResult['result'] => {
    if (failed.has(host)) return 'failed';
    if (leftOut.has(host)) return 'left-out';
    return (changes.get(host) ?? 0) > 0 ? 'changed' : 'unchanged';
  };
  return {
    note(event) {
      if (event.kind === 'phase-started') for (const host of event.hosts) changes.set(host, changes.get(host) ?? 0);
      else if (event.kind === 'host-started') leftOut.delete(event.host);
      else if (event.kind === 'unreachable' || event.kind === 'left-out') leftOut.add(event.host);
      else if (event.kind === 'failed') failed.add(event.host);
      else if (event.kind === 'changed') {
        const { host, summary, durationMs } = event;
        changes.set(host, (changes.get(host) ?? 0) + 1);
        // The same change may be made once more.
        last(`change ${String(lasted.size)}`, { host, what: 'change', summary, durationMs });
      } else if (event.kind === 'settling') {
        const { host, summary, step, phase, waitedMs } = event;
        last(`wait ${host} ${phase} ${step}`, { host, what: 'wait', summary, durationMs: waitedMs });
      }
    },
    summary: () => {
      const names = [...new Set([...changes.keys(), ...failed, ...leftOut])];
      const hosts = names.map((host): HostResult => ({
        host,
        result: resultOf(host),
        changes: changes.get(host) ?? 0,
      }));
      if (!hosts.some((one) => one.changes > 0 || one.result === 'failed')) return undefined;
      const longest = [...lasted.values()].toSorted((a, b) => b.durationMs - a.durationMs).slice(0, LONGEST);
      return { kind: 'summary', hosts, longest };
    },
  };
}

const WORDS = { changed: 'changed', unchanged: 'unchanged', failed: 'failed', 'left-out': 'left out' } as const;

/** Hosts of one result in one line: in CI, and where they are many. */
function together(hosts: readonly HostResult[], result: HostResult['result']): readonly string[] {
  const names = hosts.filter((one) => one.result === result).map(({ host }) => host);
  return names.length === 0 ? [] : [`${WORDS[result]}: ${hostList(names)}`];
}

/** A summary as lines. `isShort`: for CI, whose log has a line for each change already. */
export function summaryText({ hosts, longest }: RunSummary, isShort: boolean): string {
  const ofHost = ({ host, result, changes }: HostResult): readonly string[] => [
    host,
    `${WORDS[result]}${changes === 0 ? '' : ` (${counted(changes, 'change')})`}`,
  ];
  const isTogether = isShort || hosts.length > ROWS;
  const timed = longest.slice(0, isShort ? LONGEST_SHORT : LONGEST);
  const rows = timed.map(({ host, what, summary, durationMs }) => [
    lasting(durationMs),
    host,
    `${what === 'wait' ? 'waited: ' : ''}${summary}`,
  ]);
  return [
    ...(rows.length === 0 ? [] : ['what took longest', table(rows)]),
    'hosts',
    isTogether
      ? (['changed', 'unchanged', 'failed', 'left-out'] as const)
          .flatMap((result) => together(hosts, result))
          .map((line) => `  ${line}`)
          .join('\n')
      : table(hosts.map(ofHost)),
    '',
  ].join('\n');
}
