/**
 * Plays a run on the terminal that it is started on, through the real reporter, with a clock that only the play moves. At
 * each moment it draws, sets the title of the terminal to `at NAME`, and waits for a key. Its argument is the name of the play.
 */
import { lookOf } from '../../src/report/terminal.ts';
import { drawnReporter } from '../fakes/drawn-reporter.ts';
import { type Play, plays } from './plays.ts';

const START_MS = Date.parse('2026-11-21T10:00:00Z');

let nowMs = START_MS;
const timers = new Set<() => void>();

/** Everything that was planned happens now. */
function ring(): void {
  for (const act of [...timers]) {
    timers.delete(act);
    act();
  }
}

const key = (): Promise<void> =>
  new Promise((resolve) => {
    process.stdin.once('data', () => {
      process.stdin.pause();
      resolve();
    });
    process.stdin.resume();
  });

/** Settles when the window is so wide. */
const width = (columns: number): Promise<void> =>
  new Promise((resolve) => {
    // A signal alone does not keep a process alive.
    const alive = setInterval(() => undefined, 60_000);
    const look = (): void => {
      if (process.stderr.columns !== columns) return;
      clearInterval(alive);
      process.stderr.off('resize', look);
      resolve();
    };
    process.stderr.on('resize', look);
    look();
  });

async function play({ phases, events }: Play): Promise<void> {
  const write = process.stderr.write.bind(process.stderr);
  const reporter = drawnReporter(phases, {
    stream: process.stderr,
    nowMs: () => nowMs,
    look: lookOf({ TERM: process.env['TERM'], NO_COLOR: process.env['NO_COLOR'] }, undefined),
    after: (_, act) => {
      timers.add(act);
      return () => timers.delete(act);
    },
  });
  const shown = async (name: string): Promise<void> => {
    ring();
    write(`\u001B]2;at ${name}\u0007`);
    await key();
  };
  for (const one of events) {
    if ('atS' in one) nowMs = START_MS + one.atS * 1000;
    else if ('moment' in one) await shown(one.moment);
    else if ('columns' in one) await width(one.columns);
    else if ('text' in one) process.stderr.write(one.text);
    else reporter.report({ time: new Date(nowMs).toISOString(), ...one });
  }
  await reporter.close();
  await shown('end');
}

process.stdin.setRawMode(true);
await play(plays[process.argv[2] as keyof typeof plays]);
process.exit(0);
