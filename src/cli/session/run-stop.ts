import { Interrupted } from '../../errors.ts';
import type { Context } from '../context.ts';
import { deadline, GO_ON, GRACE_MS, type DeadlineEnds } from './deadline.ts';
import type { RunOutput } from './run-output.ts';

/** How a run is ended from outside: by Ctrl-C, by `--timeout`, or by a lost lock. */
export interface RunStop {
  readonly signal: AbortSignal;
  readonly abort: (reason: Error) => void;
  /** From now on Ctrl-C ends the run, and what ends it is shown. */
  readonly listen: (context: Context, output: RunOutput) => void;
  /** Ctrl-C and the deadline no longer reach the run. */
  readonly release: () => void;
}

/** The deadline counts from now on; `undefined`: none. */
export function runStop(timeoutMs: number | undefined): RunStop {
  const controller = new AbortController();
  const abort = (reason: Error): void => controller.abort(reason);
  let ends: DeadlineEnds = { passed: abort, over: () => undefined };
  const cancelDeadline = deadline(timeoutMs, {
    passed: (error) => ends.passed(error),
    over: (error) => ends.over(error),
  });
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
      const graceS = `${String(GRACE_MS / 1000)} s`;
      ends = {
        passed: (error) =>
          finish(`${error.message}: what is under way has ${graceS} to end, and nothing else is begun`, error),
        over: (error) => {
          leave(error.message);
          context.exit(error.exitCode);
        },
      };
    },
    release() {
      cancelDeadline();
      ignoreInterrupts();
    },
  };
}
