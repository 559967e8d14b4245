import type { ExecResult, TimeLimit } from './transport.ts';

/** The result of a command that gave no answer within its limit. It may still run. */
export const SILENT: ExecResult = { stdout: '', stderr: '', status: 'silent' };

/** What the work of a limited command reports and hears. */
export interface Watch {
  /** Aborts when the limit has passed. */
  readonly expired: AbortSignal;
  /** The command is sent now: what others on the same connection take does not count. */
  readonly began: () => void;
  /** Bytes came or went. */
  readonly heard: () => void;
}

/** A check that comes so late means that this process stood still: what came meanwhile has not been read yet. */
const LATE_MS = 1000;
const AFTER_LATE_MS = 5000;
/** The longest time that a timer of Node can have. */
const LONGEST_MS = 2 ** 31 - 1;

/** A watch that calls `expire` when the limit has passed since the command began. */
function watchOf({ totalMs, silentMs = totalMs }: TimeLimit, expire: () => void) {
  let beganMs = 0;
  let heardMs = 0;
  let timer: NodeJS.Timeout | undefined;
  const check = (dueMs: number): void => {
    const now = performance.now();
    const endMs = Math.min(beganMs + totalMs, heardMs + silentMs);
    if (endMs > now) checkIn(endMs - now);
    else if (now - dueMs > LATE_MS) checkIn(AFTER_LATE_MS);
    else expire();
  };
  const checkIn = (ms: number): void => {
    const inMs = Math.min(ms, LONGEST_MS);
    timer = setTimeout(check, inMs, performance.now() + inMs);
  };
  return {
    began: (): void => {
      clearTimeout(timer);
      beganMs = heardMs = performance.now();
      checkIn(Math.min(totalMs, silentMs));
    },
    heard: (): void => void (heardMs = performance.now()),
    end: (): void => clearTimeout(timer),
  };
}

const nothing = (): void => undefined;

/** The result of the work, or `SILENT` if it does not end within the limit. Without a limit it may take for ever. */
export async function withinLimit(
  limit: TimeLimit | undefined,
  work: (watch: Watch) => Promise<ExecResult>,
): Promise<ExecResult> {
  const over = new AbortController();
  const expired = over.signal;
  if (limit === undefined) return work({ expired, began: nothing, heard: nothing });
  let watch: ReturnType<typeof watchOf> | undefined;
  const silent = new Promise<ExecResult>((resolve) => {
    watch = watchOf(limit, () => {
      resolve(SILENT);
      over.abort();
    });
  });
  const { began, heard, end } = watch!;
  try {
    return await Promise.race([work({ expired, began, heard }), silent]);
  } finally {
    end();
  }
}
