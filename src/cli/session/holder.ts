import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import type { LockHolder } from '../../engine/lock-holder.ts';
import type { Run } from './run.ts';

/**
 * Where process ids of this process mean something: this boot of this machine, and the namespace in it. Two containers may
 * have the same user and machine name, and then the same process ids. undefined where the system does not tell.
 */
function processRealm(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const namespace = readlinkSync('/proc/self/ns/pid');
    return createHash('sha256').update(`${boot} ${namespace}`).digest('hex').slice(0, 8);
  } catch {
    return undefined;
  }
}

/** The run that takes a lock, for the message that others get. */
export const holder = ({ context, runId }: Pick<Run, 'context' | 'runId'>, command: string): LockHolder => {
  const realm = processRealm();
  return {
    who: `${userInfo().username}@${hostname()}`,
    pid: process.pid,
    since: new Date(context.nowMs()).toISOString(),
    command: `kbuild ${command}`,
    run: `${runId}${realm === undefined ? '' : ` in ${realm}`}`,
  };
};

/** True when a lock is held by a run of this machine, or of this container, that has ended. */
export function isGone(heldBy: string): boolean {
  const [, pid, realm] = /^by \S+ \(pid (\d+)\) since \S+, run \S+ in (\w+): /.exec(heldBy) ?? [];
  if (realm === undefined || realm !== processRealm()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
