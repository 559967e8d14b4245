import type { Reporter, TimedEvent } from '../engine/event.ts';
import { counted, hostList } from './host-list.ts';

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** What the run waits for, and for how long already. */
const waitingText = (event: Extract<TimedEvent, { readonly kind: 'settling' | 'job-waits' }>): string => {
  const waitedS = event.kind === 'settling' ? Math.round(event.waitedMs / 1000) : 0;
  return `waiting${waitedS === 0 ? '' : ` for ${String(waitedS)} s`}: ${event.summary}`;
};

/** `all` (`-v`) also shows every command, and events that are otherwise summed up. */
type Detail = 'usual' | 'all';

/** A command on a host as a line of `-v`: that it begins, or how it ended. */
export function commandLine(entry: {
  readonly host: string;
  readonly command: string;
  readonly status?: number | string;
  readonly durationMs?: number;
}): string {
  const { host, command, status, durationMs = 0 } = entry;
  if (status === undefined) return `${host}: $ ${command} …`;
  return `${host}: $ ${command}: ${status === 0 ? 'ended' : `status ${String(status)}`} after ${seconds(durationMs)}`;
}

/** The line of an event that only `-v` shows. */
function detail(event: TimedEvent): string | undefined {
  if (event.kind === 'unreachable') return `! ${event.message}`;
  if (event.kind === 'left-out') return `! ${event.host} is left out, the other hosts go on: ${event.message}`;
  if (event.kind === 'host-started') return `${event.host}: begins ${event.phase}`;
  if (event.kind !== 'host-done') return undefined;
  const found = event.changes === 0 ? 'as it should be' : counted(event.changes, 'change');
  return `${event.host}: ${event.phase}: ${found} after ${seconds(event.durationMs)}`;
}

/** An event as a line; undefined if only `-v` or programs read it. */
export function line(event: TimedEvent): string | undefined {
  switch (event.kind) {
    case 'connecting':
      return `connecting to ${counted(event.hosts.length, 'host')}`;
    case 'observed':
      return `observed ${counted(event.hosts, 'host')} in ${seconds(event.durationMs)}`;
    case 'locked':
      return `locked ${counted(event.hosts, 'host')}`;
    case 'phase-started':
      return `== ${event.title} (${hostList(event.hosts)})`;
    case 'changing':
      return `${event.host}: ${event.summary} …`;
    case 'changed':
      return `${event.host}: ${event.summary}: done in ${seconds(event.durationMs)}`;
    case 'unplanned':
      return `${event.host}: not in the plan: ${event.summary}`;
    case 'settling':
    case 'job-waits':
      return `${event.host}: ${waitingText(event)}`;
    case 'job-followed':
    case 'noted':
      return `${event.host}: ${event.summary}`;
    case 'failed':
      return `✖ ${event.host}: ${event.step} failed; the reason follows at the end`;
    case 'phase-done':
      return `== ${event.phase}: ${counted(event.changes, 'change')} in ${seconds(event.durationMs)}`;
    case 'interrupted':
      return event.summary;
    // Findings and the end of the run report these in full.
    case 'unreachable':
    case 'left-out':
    case 'waits-for-hosts':
    case 'done':
    case 'host-started':
    case 'host-done':
    // Its report every 30 s says it too.
    case 'job-loads':
      return undefined;
  }
}

/** One line an event, with the time of day: for pipelines and for terminals that cannot redraw. */
export function lineReporter(write: (text: string) => void, shown: Detail = 'usual'): Reporter {
  const silent = new Set<string>();
  return {
    report: (event) => {
      if (event.kind === 'unreachable') silent.add(event.host);
      const missing = event.kind === 'observed' && silent.size > 0 ? `; no answer from ${hostList([...silent])}` : '';
      const shownLine = line(event) ?? (shown === 'all' ? detail(event) : undefined);
      const text = shownLine === undefined ? undefined : shownLine + missing;
      if (text !== undefined) write(`${event.time.slice(11, 19)} ${text}\n`);
    },
    close: () => Promise.resolve(),
  };
}
