import type { Reporter, TimedEvent } from '../engine/event.ts';

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const changesOf = (count: number): string => (count === 1 ? '1 change' : `${String(count)} changes`);

/** What is waited for, and for how long already. */
export const waitingText = (event: Extract<TimedEvent, { readonly kind: 'settling' | 'job-waits' }>): string => {
  const waitedS = event.kind === 'settling' ? Math.round(event.waitedMs / 1000) : 0;
  return `waiting${waitedS === 0 ? '' : ` for ${String(waitedS)} s`}: ${event.summary}`;
};

/** One event as a line for people; undefined for those that only programs care about. */
export function line(event: TimedEvent): string | undefined {
  switch (event.kind) {
    case 'connecting':
      return `connecting to ${String(event.hosts.length)} hosts`;
    case 'unreachable':
      return `! ${event.message}`;
    case 'left-out':
      return `! ${event.host} is left out, the other hosts go on: ${event.message}`;
    case 'observed':
      return `observed ${String(event.hosts)} hosts in ${seconds(event.durationMs)}`;
    case 'locked':
      return `locked ${String(event.hosts)} hosts`;
    case 'phase-started':
      return `== ${event.title} (${event.hosts.join(', ')})`;
    case 'changing':
      return `${event.host}: ${event.summary} …`;
    case 'changed':
      return `${event.host}: ${event.summary}: done in ${seconds(event.durationMs)}`;
    case 'unplanned':
      return `${event.host}: not in the plan: ${event.summary}`;
    case 'skipped':
      return `${event.host}: left out: ${event.summary}`;
    case 'settling':
    case 'job-waits':
      return `${event.host}: ${waitingText(event)}`;
    case 'job-followed':
    case 'noted':
      return `${event.host}: ${event.summary}`;
    case 'failed':
      return `✖ ${event.summary}`;
    case 'phase-done':
      return `== ${event.phase}: ${changesOf(event.changes)} in ${seconds(event.durationMs)}`;
    case 'interrupted':
      return event.summary;
    case 'done':
      return event.failed.length === 0
        ? `done: ${changesOf(event.changes)} in ${seconds(event.durationMs)}`
        : `ended: ${changesOf(event.changes)} in ${seconds(event.durationMs)}; failed: ${event.failed.join(', ')}`;
    // Said in full beside the events.
    case 'waits-for-hosts':
    case 'host-started':
    case 'host-done':
      return undefined;
  }
}

/** One line an event, with the time of day: for pipelines and for terminals that cannot redraw. */
export function lineReporter(write: (text: string) => void): Reporter {
  return {
    report: (event) => {
      const text = line(event);
      if (text !== undefined) write(`${event.time.slice(11, 19)} ${text}\n`);
    },
    close: () => Promise.resolve(),
  };
}
