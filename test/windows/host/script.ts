import type { PsValue } from '../../../src/shell/powershell.ts';
import type { Machine } from './machine.ts';

/** A script that throws: its message stands in KBUILD-ERROR on stderr, and its status is 1. */
export class ScriptFailure extends Error {}

/** The process was ended: with its channel, by Stop-Process, or by the machine going down. */
export class Killed extends Error {}

/** What a script has around it. */
export interface ScriptContext {
  /** Its process. */
  readonly pid: number;
  /** Frozen when its connection was made; of a task: as it is now. */
  readonly environment: ReadonlyMap<string, string>;
  readonly account: 'administrator' | 'SYSTEM';
  /** Where a job's files lie. */
  readonly workingFolder: string | undefined;
  /** Aborted when the process is ended. */
  readonly signal: AbortSignal;
  /** @throws Killed */
  readonly sleep: (ms: number) => Promise<void>;
  /** True when something came in on stdin within so many ms. @throws Killed */
  readonly heartbeat: (ms: number) => Promise<boolean>;
  /** Prints the result now, and goes on; then the answer returns nothing. */
  readonly result: (value: unknown) => void;
  readonly host: HostControl;
}

/** What only the whole machine can do. */
export interface HostControl {
  /** Restarts it: it still answers for a while, then every process and connection ends. */
  readonly restart: () => void;
  /** Runs a payload as a process of SYSTEM that no channel ends, for at most so many seconds. */
  readonly runTask: (
    name: string,
    payload: string,
    workingFolder: string,
    ended: (outcome: TaskOutcome) => void,
    seconds?: number,
  ) => void;
  /** Starts a registered service. @throws ScriptFailure when there is none, or its program will not start. */
  readonly startService: (name: string) => Promise<void>;
  readonly stopService: (name: string) => Promise<void>;
  /** What each script does, by its name. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** What the test put there for answers: the lab's API server and the like. */
  readonly world: Readonly<Record<string, unknown>>;
}

/** How a task's process ended. */
export interface TaskOutcome {
  readonly status: string;
  readonly output: string;
  readonly errors: string;
}

/** What one script does to the machine; what it returns is its result. One a file in answers/, named for the script. */
export type Answer = (machine: Machine, params: Readonly<Record<string, PsValue>>, context: ScriptContext) => unknown;

/** The program that a service runs. */
export type Program = (machine: Machine, host: HostControl) => Promise<{ readonly stop: () => Promise<void> }>;
