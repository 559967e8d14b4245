import { readFileSync } from 'node:fs';

/** A process, safe against the reuse of its number: the kernel's start time goes with it. */
export interface ProcessId {
  readonly pid: number;
  /** Clock ticks since boot, field 22 of /proc/PID/stat. */
  readonly startTime: string;
}

/** The process that has this number now, or undefined. A zombie does not count. */
export function processId(pid: number): ProcessId | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : { pid, startTime: fields[19]! };
  } catch {
    return undefined;
  }
}

/** Reads "PID START" from a file that a service or supervisor wrote; undefined when it is gone or that process has ended. */
export function recordedProcess(file: string): ProcessId | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  const [pid, startTime] = text.trim().split(' ');
  const now = processId(Number(pid));
  return now !== undefined && now.startTime === startTime ? now : undefined;
}

/** Sends a signal to exactly that process. False when it had already ended. */
export function signal({ pid, startTime }: ProcessId, name: NodeJS.Signals): boolean {
  if (processId(pid)?.startTime !== startTime) return false;
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
