import { DeadlinePassed, Interrupted } from '../../errors.ts';
import type { Context } from '../context.ts';
import type { RunOutput } from './run-output.ts';

/** The remedy of every run that was cut off. */
export const GO_ON = 'run the same command again to go on from here';

/** How long work that is under way when the deadline passes may take to end, in ms. */
const GRACE_MS = 30_000;

const lasting = (ms: number): string => (ms % 60_000 === 0 ? `${String(ms / 60_000)} min` : `${String(ms / 1000)} s`);

/** How a run is ended from outside: by Ctrl-C, by `--timeout`, or by a lost lock. */
export interface RunStop {
  readonly signal: AbortSignal;
  readonly abort: (reason: Error) => void;
  /** From now on Ctrl-C ends the run, and what ends it is shown. */
  readonly listen: (context: Context, output: RunOutput) => void;
  /** Ctrl-C and the deadline no longer reach the run. */
  readonly release: () => void;
}

/** The deadline is `timeoutMs` from now: then no other work begins. `Infinity`: none. */
export function runStop(timeoutMs: number): RunStop {
  const controller = new AbortController();
  const abort = (reason: Error): void => controller.abort(reason);
  const expired = new DeadlinePassed(`the run did not end within ${lasting(timeoutMs)} (--timeout)`, { remedy: GO_ON });
  let onDeadline = (): void => abort(expired);
  let onGraceEnd = (): void => undefined;
  const after = (ms: number, act: () => void): NodeJS.Timeout | undefined =>
    // A run that has ended does not wait for its deadline.
    ms === Infinity ? undefined : setTimeout(act, ms).unref();
  const timers = [after(timeoutMs, () => onDeadline()), after(timeoutMs + GRACE_MS, () => onGraceEnd())];
  let ignoreInterrupts = (): void => undefined;
  return {
    signal: controller.signal,
    abort,
    listen(context, output) {
      const finish = (why: string, reason: Error): void => {
        output.showInterrupted(`${why}\n${output.standing.text()}`);
        abort(reason);
      };
      const leave = (why: string): void => {
        const where = output.standing.text();
        output.log({ kind: 'stopped', standing: where });
        context.err(`\nkbuild: ${why}; ${where}\n  → ${GO_ON}; what runs on a host goes on there, and is waited for\n`);
      };
      ignoreInterrupts = context.onInterrupt(
        () =>
          finish(
            'interrupted: what is under way is finished, and nothing else begun; press again to stop at once',
            new Interrupted('interrupted'),
          ),
        () => leave('stopped at once'),
      );
      onDeadline = () =>
        finish(
          `${expired.message}: what is under way has ${lasting(GRACE_MS)} to end, and nothing else is begun`,
          expired,
        );
      onGraceEnd = () => {
        leave(expired.message);
        context.exit(expired.exitCode);
      };
    },
    release() {
      for (const timer of timers) clearTimeout(timer);
      ignoreInterrupts();
    },
  };
}
