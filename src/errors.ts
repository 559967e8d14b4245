import { EXIT, SERIOUSNESS } from './exit-codes.ts';
import type { RefusalName } from './refusals/refusals.ts';

/** An error of kbuild, with the exit code that docs/cli.md promises to scripts. */
export abstract class KbuildError extends Error {
  abstract readonly exitCode: number;
  /** What the operator can do, in one sentence; undefined when kbuild knows nothing. */
  readonly remedy: string | undefined;
  /** What the run had changed when it ended, in one line; undefined if it changed nothing. */
  readonly closing: string | undefined;

  constructor(message: string, options: { readonly remedy?: string | undefined; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.remedy = options.remedy;
  }
}

/** One mistake in an inventory, with its place. */
export interface Problem {
  /** `file:line:column`, or the file alone when there is no better place. */
  readonly at: string;
  /** The setting, e.g. `hosts[1].role`; empty for the whole file. */
  readonly path: string;
  /** What is wrong and what is allowed. */
  readonly message: string;
}

/** The inventory is wrong; carries every problem. No host was contacted. Exit 2. */
export class InventoryError extends KbuildError {
  readonly exitCode: typeof EXIT.usage = EXIT.usage;
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ at, path, message }) => `${at}: ${path === '' ? '' : `${path}: `}${message}`).join('\n'));
    this.problems = problems;
  }
}

/** The command line is wrong, or there is no terminal to ask on. Exit 2. */
export class UsageError extends KbuildError {
  readonly exitCode: typeof EXIT.usage = EXIT.usage;
}

/** kbuild cannot reach a host. Exit 3. `retryable` is false if another attempt cannot help (a host key, a login). */
export class ConnectError extends KbuildError {
  readonly exitCode: typeof EXIT.unreachable = EXIT.unreachable;
  readonly host: string;
  readonly retryable: boolean;

  constructor(
    host: string,
    message: string,
    options: { readonly retryable: boolean; readonly remedy?: string; readonly cause?: unknown },
  ) {
    super(`${host}: ${message}`, options);
    this.host = host;
    this.retryable = options.retryable;
  }
}

/** True if the host of this error gave no answer at all: it may be gone. One that refused a login lives. */
export const mayBeGone = (error: Error): boolean => error instanceof ConnectError && error.retryable;

/** A host is connected, but does not answer a command in time. */
export class NoAnswer extends ConnectError {}

/**
 * A fact could not be read: neither true nor false. Thrown when the fact is read, never replaced by a guess. Exit 3.
 */
export class FactError extends KbuildError {
  readonly exitCode: typeof EXIT.unreachable = EXIT.unreachable;
  readonly host: string;
  readonly fact: string;

  constructor(host: string, fact: string, reason: string) {
    super(`${host}: could not tell ${fact}: ${reason}`);
    this.host = host;
    this.fact = fact;
  }
}

/** A fact, or `otherwise` where it could not be observed: something else tells that it is unknown. */
export function ifKnown<T, O>(read: () => T, otherwise: O): T | O {
  try {
    return read();
  } catch (error) {
    if (error instanceof FactError) return otherwise;
    throw error;
  }
}

/** Characters of a line of a command's output in its error. */
const LONGEST_LINE = 2000;

/** A command on a host failed. Exit 4. The message shows the end of stderr; `stderr` has all of it. */
export class CommandError extends KbuildError {
  readonly exitCode: typeof EXIT.command = EXIT.command;
  readonly host: string;
  readonly command: string;
  /** Exit status, the name of the signal, or `lost` when the connection ended first. */
  readonly status: number | string;
  readonly stdout: string;
  readonly stderr: string;

  constructor(
    host: string,
    command: string,
    result: { readonly status: number | string; readonly stdout: string; readonly stderr: string },
    remedy?: string,
  ) {
    const tail = (result.stderr.trim() === '' ? result.stdout : result.stderr)
      .trimEnd()
      .split('\n')
      .slice(-10)
      .map((line) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line))
      .join('\n');
    super(`${host}: status ${String(result.status)}: ${command}${tail === '' ? '' : `\n${tail}`}`, { remedy });
    this.host = host;
    this.command = command;
    this.status = result.status;
    this.stdout = result.stdout;
    this.stderr = result.stderr;
  }
}

/** A host does not match the inventory in time after its changes. Exit 5. */
export class NotConverged extends KbuildError {
  readonly exitCode: typeof EXIT.notConverged = EXIT.notConverged;
  readonly host: string;
  readonly step: string;
  /** Summaries of what is still needed. */
  readonly needed: readonly string[];

  constructor(host: string, step: string, needed: readonly string[], remedy?: string) {
    super(`${host}: ${step} does not hold after its changes; still needed: ${needed.join('; ')}`, { remedy });
    this.host = host;
    this.step = step;
    this.needed = needed;
  }
}

/** A host was not restarted, because others could not do without it in time. Exit 5. */
export class NotSpared extends KbuildError {
  readonly exitCode: typeof EXIT.notConverged = EXIT.notConverged;
  readonly host: string;

  /** `needed`: what the others must have first. */
  constructor(host: string, needed: readonly string[], remedy: string) {
    super(`${host}: not restarted, because the others could not do without it; still needed: ${needed.join('; ')}`, {
      remedy,
    });
    this.host = host;
  }
}

/** The run's deadline passed. Exit 5. */
export class DeadlinePassed extends KbuildError {
  readonly exitCode: typeof EXIT.notConverged = EXIT.notConverged;
}

/** Preflight checks failed; nothing was changed. Exit 6. */
export class ChecksFailed extends KbuildError {
  readonly exitCode: typeof EXIT.checks = EXIT.checks;
}

/** Refused, and no flag overrides it: quorum, a foreign cluster, a version step, another run's lock. Exit 7. */
export class Refused<N extends RefusalName = RefusalName> extends KbuildError {
  readonly exitCode: typeof EXIT.refused = EXIT.refused;
  /** Its name: docs/refusals.md and `kbuild explain refusal NAME` say more. */
  readonly refusal: N;
  readonly subject: string;
  /** The message without its subject. */
  readonly reason: string;

  constructor(refusal: N, subject: string, reason: string, remedy?: string) {
    super(`${subject}: refused: ${reason}`, { remedy });
    this.refusal = refusal;
    this.subject = subject;
    this.reason = reason;
  }
}

const nameOf = (error: unknown): RefusalName | undefined =>
  error instanceof Refused ? (error as Refused).refusal : undefined;

/** The name of a refusal, as a field of events, notes and documents; no field for another error. */
export function refusalOf(error: unknown): { readonly refusal?: RefusalName } {
  const refusal = nameOf(error);
  return refusal === undefined ? {} : { refusal };
}

/** The last line about a refusal, which names it; none for another error. */
export function refusalLines(error: unknown): readonly string[] {
  const refusal = nameOf(error);
  return refusal === undefined ? [] : [`  why: kbuild explain ${refusal}`];
}

/**
 * A path of a host that kbuild neither reads nor writes, because another user than root could lead it elsewhere.
 * `found`: the path, and the folder or link with its owner.
 */
export const pathRefused = (host: string, found: string): Refused =>
  new Refused(
    'unsafe-path',
    host,
    `${found}; kbuild writes and shows as root only what no other user can lead elsewhere`,
    'name a path whose folders and links belong to root and that no other user can write to, or give them to ' +
      'root; to take such a file back, move it away first',
  );

/** The user interrupted the run. Exit 130. */
export class Interrupted extends KbuildError {
  readonly exitCode: typeof EXIT.interrupted = EXIT.interrupted;
}

/** Several hosts failed. Its exit code is the most serious one: 7, 6, 3, 4, 5 in this order, a bug (1) before all. */
export class SeveralErrors extends KbuildError {
  readonly exitCode: number;
  readonly errors: readonly Error[];

  constructor(errors: readonly Error[], options: { readonly remedy?: string | undefined } = {}) {
    super(errors.map((error) => error.message).join('\n'), options);
    this.errors = errors;
    this.exitCode = worstExitCode(errors);
  }
}

/** True if one of the errors says what the operator can do. */
export const hasRemedy = (errors: readonly Error[]): boolean =>
  errors.some((error) => error instanceof KbuildError && error.remedy !== undefined);

/** The error to throw for one or more: it is itself when it is the only one. */
export const combined = <E extends Error>(errors: readonly E[]): E | SeveralErrors =>
  errors.length === 1 ? errors[0]! : new SeveralErrors(errors);

/** @throws the errors, if there are any */
export function throwAll(errors: readonly Error[]): void {
  if (errors.length > 0) throw combined(errors);
}

/** The exit code that an error calls for; 1 (a bug) for anything that is not kbuild's own. */
export const exitCodeOf = (error: unknown): number => (error instanceof KbuildError ? error.exitCode : EXIT.bug);

/** The most serious of several exit codes; 0 for none. */
export const mostSerious = (codes: readonly number[]): number => SERIOUSNESS.find((code) => codes.includes(code)) ?? 0;

/** The most serious exit code of several errors; 0 for none. */
export const worstExitCode = (errors: readonly unknown[]): number => mostSerious(errors.map(exitCodeOf));
