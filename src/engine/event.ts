import { refusalOf } from '../errors.ts';
import type { WaitingChange } from './plan.ts';

/** Where something happened. */
interface Place {
  readonly phase: string;
  readonly host: string;
  readonly step: string;
}

interface HostPlace {
  readonly phase: string;
  readonly host: string;
}

/** Something that happened. Every reporter and log is fed by events alone; none carries a secret. Durations in ms. */
export type Event =
  | { readonly kind: 'connecting'; readonly hosts: readonly string[] }
  /** The hosts that have not answered after a while, the slowest first; emitted again while that lasts. */
  | {
      readonly kind: 'hosts-awaited';
      readonly hosts: number;
      readonly answered: number;
      readonly waiting: readonly string[];
      readonly waitedMs: number;
    }
  | { readonly kind: 'unreachable'; readonly host: string; readonly message: string }
  /** A host that the run leaves out, and why; the others go on. */
  | { readonly kind: 'left-out'; readonly host: string; readonly message: string }
  | { readonly kind: 'observed'; readonly hosts: number; readonly durationMs: number }
  | { readonly kind: 'locked'; readonly hosts: number }
  | {
      readonly kind: 'phase-started';
      readonly phase: string;
      readonly title: string;
      readonly hosts: readonly string[];
    }
  | ({ readonly kind: 'host-started' } & HostPlace)
  | ({ readonly kind: 'changing'; readonly summary: string } & Place)
  | ({ readonly kind: 'changed'; readonly summary: string; readonly durationMs: number } & Place)
  /** A change that was not in the confirmed plan. */
  | ({ readonly kind: 'unplanned'; readonly summary: string } & Place)
  /** What a step waits for, and since when; emitted again every 10 s. */
  | ({ readonly kind: 'settling'; readonly summary: string; readonly waitedMs: number } & Place)
  /** A job of an earlier run, or of another run, that is waited for. */
  | { readonly kind: 'job-followed'; readonly host: string; readonly summary: string }
  /** What a job of this run waits for, e.g. `/run/xtables.lock is held by process 812 (iptables)`. */
  | { readonly kind: 'job-waits'; readonly host: string; readonly summary: string }
  /** Bytes that a job of this run has downloaded since it is followed; emitted every 5 s while that grows. */
  | { readonly kind: 'job-loads'; readonly host: string; readonly bytes: number; readonly bytesPerSecond: number }
  /** Something that the operator should know later, e.g. where data was kept. */
  | { readonly kind: 'noted'; readonly host: string; readonly summary: string }
  | ({
      readonly kind: 'failed';
      readonly summary: string;
      readonly exitCode: number;
      /** The name of a refusal. */
      readonly refusal?: string;
    } & Place)
  | ({ readonly kind: 'host-done'; readonly changes: number; readonly durationMs: number } & HostPlace)
  | { readonly kind: 'phase-done'; readonly phase: string; readonly changes: number; readonly durationMs: number }
  /** The hosts that a run has left out, and the changes that wait for them: at its end. */
  | { readonly kind: 'waits-for-hosts'; readonly hosts: readonly string[]; readonly changes: readonly WaitingChange[] }
  | { readonly kind: 'interrupted'; readonly summary: string }
  /** What became of each host, and the changes and waits that took longest, the longest first: when the run has ended. */
  | {
      readonly kind: 'summary';
      readonly hosts: readonly {
        readonly host: string;
        readonly result: 'changed' | 'unchanged' | 'failed' | 'left-out';
        readonly changes: number;
      }[];
      readonly longest: readonly {
        readonly host: string;
        readonly what: 'change' | 'wait';
        readonly summary: string;
        readonly durationMs: number;
      }[];
    }
  | {
      readonly kind: 'done';
      readonly changes: number;
      readonly failed: readonly string[];
      readonly durationMs: number;
    };

/** An event and when it happened, ISO 8601. */
export type TimedEvent = Event & { readonly time: string };

/** Sends an event to all reporters. */
export type Emit = (event: Event) => void;

/** What the event `failed` says about an error; exit code 1 (a bug) for one that is not kbuild's own. */
export const failureOf = (
  error: unknown,
): { readonly summary: string; readonly exitCode: number; readonly refusal?: string } => ({
  summary: (error as Error).message,
  exitCode: (error as { readonly exitCode?: number }).exitCode ?? 1,
  ...refusalOf(error),
});

/**
 * Something that shows events to people or programs. `close` settles when all of it was shown and the terminal is as it
 * was.
 */
export interface Reporter {
  readonly report: (event: TimedEvent) => void;
  readonly close: () => Promise<void>;
}
