import { Listr, ListrTaskState, ProcessOutput, type ListrTask, type ListrTaskWrapper } from 'listr2';
import type { Reporter, TimedEvent } from '../engine/event.ts';
import type { Phase } from '../engine/step.ts';
import { waitingText } from './lines.ts';
import { phaseRow, type HostRow, type PhaseRow, type Row } from './phase-row.ts';

type Wrapper = Parameters<ListrTask['task']>[1];

/** Draws a row by its task. listr2 shows every task that it runs at work: until a row has begun, its task only waits. */
function drawn(row: Row, { task }: Pick<ListrTaskWrapper<unknown, never, never>, 'task'>): void {
  task.state$ = ListrTaskState.WAITING;
  row.drawBy({
    start: () => {
      task.state$ = ListrTaskState.STARTED;
    },
    title: (text) => {
      task.title$ = text;
    },
    below: (lines) => {
      task.output$ = lines.join('\n');
    },
  });
}

/** Ends with the row. A row that never began is skipped. */
async function untilSettled(row: Row, wrapper: Wrapper): Promise<void> {
  if ((await row.settled) === 'not begun') wrapper.skip(`${row.name}: not begun`);
}

const hostTask = (row: Row): ListrTask => ({
  title: row.name,
  task: async (_, wrapper) => {
    drawn(row, wrapper as never);
    await untilSettled(row, wrapper);
  },
});

const phaseTask = ({ row, begun }: PhaseRow): ListrTask => ({
  title: row.name,
  rendererOptions: { outputBar: 1 },
  task: async (_, wrapper) => {
    drawn(row, wrapper as never);
    const hosts = await begun;
    if (hosts.length === 0) return untilSettled(row, wrapper);
    return wrapper.newListr(hosts.map(hostTask), { concurrent: true, exitOnError: false });
  },
});

const treeOf = (rows: readonly PhaseRow[], stream: NodeJS.WriteStream): { readonly run: () => Promise<unknown> } =>
  new Listr(rows.map(phaseTask), {
    concurrent: true,
    exitOnError: false,
    registerSignalListeners: false,
    rendererOptions: {
      collapseSubtasks: true,
      collapseErrors: false,
      showErrorMessage: false,
      processOutput: new ProcessOutput(stream, stream, { leaveEmptyLine: false }),
    },
  } as ConstructorParameters<typeof Listr>[1]);

type Waits = Extract<TimedEvent, { readonly kind: 'settling' | 'job-waits' | 'job-followed' }>;

/** The rows of a run, by phase and host. */
function rowsOf(phases: readonly Phase[]) {
  const rows = new Map(phases.map(({ name, title }) => [name, phaseRow(title)]));
  /** The phase that a host is in. */
  const phaseOf = new Map<string, string>();
  /** Where something was changed last: what a host waits for that is in no phase is shown there. */
  let lastChanged: HostRow | undefined;
  const hostIn = (phase: string, host: string): HostRow | undefined => rows.get(phase)?.host(host);
  return {
    all: [...rows.values()],
    phase: (name: string): PhaseRow | undefined => rows.get(name),
    enter: (phase: string, host: string): HostRow | undefined => {
      phaseOf.set(host, phase);
      return hostIn(phase, host);
    },
    leave: (phase: string, host: string): HostRow | undefined => {
      phaseOf.delete(host);
      return hostIn(phase, host);
    },
    showChange: (phase: string, host: string, summary: string): void => {
      lastChanged = hostIn(phase, host);
      lastChanged?.show(summary);
    },
    showWaiting: (event: Waits): void => {
      const text = event.kind === 'job-followed' ? `waiting: ${event.summary}` : waitingText(event);
      const phase = event.kind === 'settling' ? event.phase : phaseOf.get(event.host);
      const its = phase === undefined ? undefined : hostIn(phase, event.host);
      if (its !== undefined) its.show(text);
      else lastChanged?.show(`${event.host}: ${text}`);
    },
    end: (): void => {
      for (const row of rows.values()) row.close();
    },
  };
}

/**
 * A live tree of phases and hosts. listr2 only draws: each row awaits a promise that events settle, and no task does
 * any work, so a failing row can neither stop nor outrun the others (listr2 would not wait for siblings, and its own
 * signal handler would exit at once).
 */
export function terminalReporter(phases: readonly Phase[], stream: NodeJS.WriteStream): Reporter {
  const rows = rowsOf(phases);
  const tree = treeOf(rows.all, stream);
  let running: Promise<unknown> | undefined;

  const report = (event: TimedEvent): void => {
    switch (event.kind) {
      case 'phase-started':
        running ??= tree.run().catch(() => undefined);
        rows.phase(event.phase)?.begin(event.hosts);
        return;
      case 'host-started':
        rows.enter(event.phase, event.host)?.start();
        return;
      case 'changing':
        rows.showChange(event.phase, event.host, event.summary);
        return;
      case 'settling':
      case 'job-followed':
      case 'job-waits':
        rows.showWaiting(event);
        return;
      case 'failed':
        rows.leave(event.phase, event.host)?.fail();
        return;
      case 'host-done':
        rows
          .leave(event.phase, event.host)
          ?.done(event.changes === 0 ? 'as it should be' : `${String(event.changes)} changed`);
        return;
      case 'phase-done':
        rows.phase(event.phase)?.done();
        return;
      case 'done':
      case 'interrupted':
        rows.end();
        return;
      case 'connecting':
      case 'unreachable':
      case 'left-out':
      case 'observed':
      case 'locked':
      case 'changed':
      case 'unplanned':
      case 'waits-for-hosts':
      // Said in full below the tree.
      case 'noted':
        return;
    }
  };
  return {
    report,
    close: async () => {
      rows.end();
      await running;
    },
  };
}
