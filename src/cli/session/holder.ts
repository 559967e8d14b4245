import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import type { LockHolder } from '../../engine/lock-holder.ts';
import type { Run } from './run.ts';

/**
 * Identifies where process ids are unique: this boot of this machine, and the process namespace in it. Two containers may have
 * the same user, machine name and process ids. undefined if /proc does not show both.
 */
export function processRealm(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const namespace = readlinkSync('/proc/self/ns/pid');
    return createHash('sha256').update(`${boot} ${namespace}`).digest('hex').slice(0, 8);
  } catch {
    return undefined;
  }
}

/** This run as the holder of a lock. Other runs show it in their message. */
export const holder = ({ command, context, runId }: Pick<Run, 'command' | 'context' | 'runId'>): LockHolder => {
  const realm = processRealm();
  return {
    who: `${userInfo().username}@${hostname()}`,
    pid: process.pid,
    since: new Date(context.nowMs()).toISOString(),
    command: `kbuild ${command}`,
    run: `${runId}${realm === undefined ? '' : ` in ${realm}`}`,
  };
};

/** Whether a process runs; `unknown` for one of another machine, container or boot. */
export function isAlive({ pid, realm }: { readonly pid: number; readonly realm: string }): boolean | 'unknown' {
  if (realm === '' || realm !== processRealm()) return 'unknown';
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** True if the holder of a lock is a run of this machine, or of this container, whose process has ended. */
export function isGone(heldBy: string): boolean {
  const [, pid, realm] = /^by \S+ \(pid (\d+)\) since \S+, run \S+ in (\w+): /.exec(heldBy) ?? [];
  return realm !== undefined && isAlive({ pid: Number(pid), realm }) === false;
}
