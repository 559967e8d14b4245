/** The shells that kbuild speaks: POSIX sh on Linux hosts, Windows PowerShell on Windows hosts. */
export type Shell = 'sh' | 'powershell';

/** A script for one shell. Invariant in `S`: a `sh` command on a Windows host is a type error. */
export interface Command<in out S extends Shell = Shell> {
  readonly shell: S;
  /** What is sent on stdin, complete with its parameters. */
  readonly script: string;
  /** What people see in summaries, errors and logs: one line, no parameters of scripts. */
  readonly title: string;
  /** The host that the work is about, where another one does it: errors and events name this one. */
  readonly about?: string;
  /**
   * True for a probe that a host runs in the one shell of all probes, without a process of its own: it sets nothing of
   * the shell but variables, functions, IFS and `set -f`, leaves nothing running, and prints the same whatever other
   * probes have set. If it fails or hangs, only its own fact is unknown (templates/cluster/probe-batch.sh).
   */
  readonly inPlace?: boolean;
  /** How long it may take as a job, in ms; default: by the job's name. */
  readonly deadlineMs?: number;
  /** Makes the type invariant; never called. */
  readonly _shell?: (shell: S) => S;
}
