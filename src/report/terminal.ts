import { Listr, ProcessOutput, type ListrTask } from 'listr2';
import type { Reporter, TimedEvent } from '../engine/event.ts';
import type { Phase } from '../engine/step.ts';
import { waitingText } from './lines.ts';
import { visible } from './visible.ts';

/** Something that one row of the tree waits for. */
function row() {
  let settle!: (error?: Error) => void;
  const settled = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error));
  });
  settled.catch(() => undefined);
  let text: string | undefined;
  let drawing: (text: string) => void = () => undefined;
  return {
    settle,
    settled,
    show: (said: string): void => {
      text = visible(said);
      drawing(text);
    },
    /** From now on what is said is drawn so, also what was said last. */
    drawBy: (draw: (text: string) => void): void => {
      drawing = draw;
      if (text !== undefined) draw(text);
    },
  };
}
type Row = ReturnType<typeof row>;

const key = (phase: string, host: string): string => `${phase}\0${host}`;

/**
 * A live tree of phases and hosts. listr2 only draws: each row awaits a promise that events settle, and no task does
 * any work, so a failing row can neither stop nor outrun the others (listr2 would not wait for siblings, and its own
 * signal handler would exit at once).
 */
export function terminalReporter(phases: readonly Phase[], stream: NodeJS.WriteStream): Reporter {
  const rows = new Map<string, Row>();
  const opened = new Map<
    string,
    {
      readonly begin: (hosts: readonly string[] | undefined) => void;
      readonly begun: Promise<readonly string[] | undefined>;
    }
  >();
  for (const { name } of phases) {
    let begin!: (hosts: readonly string[] | undefined) => void;
    const begun = new Promise<readonly string[] | undefined>((resolve) => (begin = resolve));
    opened.set(name, { begin, begun });
  }
  const rowOf = (phase: string, host: string): Row => {
    const known = rows.get(key(phase, host)) ?? row();
    rows.set(key(phase, host), known);
    return known;
  };
  /** The phase that a host is in. */
  const phaseOf = new Map<string, string>();

  const hostTask = (phase: string, host: string): ListrTask => ({
    title: host,
    task: async (_, task) => {
      const mine = rowOf(phase, host);
      mine.drawBy((text) => {
        task.title = `${host}: ${text}`;
      });
      await mine.settled;
    },
  });
  const tree = new Listr(
    phases.map(({ name, title }): ListrTask => ({
      title,
      task: async (_, task) => {
        const hosts = await opened.get(name)!.begun;
        if (hosts === undefined) {
          task.skip(`${title}: not begun`);
          return;
        }
        return task.newListr(
          hosts.map((host) => hostTask(name, host)),
          { concurrent: true, exitOnError: false },
        );
      },
    })),
    {
      concurrent: true,
      exitOnError: false,
      registerSignalListeners: false,
      rendererOptions: {
        collapseSubtasks: true,
        collapseErrors: false,
        showErrorMessage: false,
        processOutput: new ProcessOutput(stream, stream, { leaveEmptyLine: false }),
      },
    } as ConstructorParameters<typeof Listr>[1],
  );
  let drawn: Promise<unknown> | undefined;

  const end = (): void => {
    for (const { begin } of opened.values()) begin(undefined);
    // Those that have ended are settled already.
    for (const one of rows.values()) one.settle(new Error('not finished'));
  };

  const report = (event: TimedEvent): void => {
    switch (event.kind) {
      case 'phase-started':
        drawn ??= tree.run().catch(() => undefined);
        opened.get(event.phase)?.begin(event.hosts);
        return;
      case 'host-started':
        phaseOf.set(event.host, event.phase);
        return;
      case 'changing':
        rowOf(event.phase, event.host).show(event.summary);
        return;
      case 'settling':
        rowOf(event.phase, event.host).show(waitingText(event));
        return;
      case 'noted': {
        const phase = phaseOf.get(event.host);
        if (phase !== undefined) rowOf(phase, event.host).show(event.summary);
        return;
      }
      case 'job-followed':
      case 'job-waits': {
        const phase = phaseOf.get(event.host);
        if (phase !== undefined) rowOf(phase, event.host).show(`waiting: ${event.summary}`);
        return;
      }
      case 'failed':
        rowOf(event.phase, event.host).settle(new Error(visible(event.summary)));
        return;
      case 'host-done':
        rowOf(event.phase, event.host).show(
          event.changes === 0 ? 'as it should be' : `${String(event.changes)} changed`,
        );
        rowOf(event.phase, event.host).settle();
        return;
      case 'phase-done':
        for (const [id, one] of rows) if (id.startsWith(`${event.phase}\0`)) one.settle();
        return;
      case 'done':
      case 'interrupted':
        end();
        return;
      case 'connecting':
      case 'unreachable':
      case 'left-out':
      case 'observed':
      case 'locked':
      case 'changed':
      case 'unplanned':
      case 'skipped':
      case 'waits-for-hosts':
        return;
    }
  };
  return {
    report,
    close: async () => {
      end();
      await drawn;
    },
  };
}
