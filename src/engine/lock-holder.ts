/** The run that holds a lock, as other runs read it. */
export interface LockHolder {
  /** `user@machine` */
  readonly who: string;
  readonly pid: number;
  /** ISO 8601 */
  readonly since: string;
  readonly command: string;
  /** Identifies the run: two containers may have the same user, machine name and process id. */
  readonly run?: string;
}

/** A holder in words, as it is written to a lock. */
export const describe = ({ who, pid, since, command, run }: LockHolder): string =>
  `by ${who} (pid ${String(pid)}) since ${since}${run === undefined ? '' : `, run ${run}`}: ${command}`.replaceAll(
    /\s+/g,
    ' ',
  );
