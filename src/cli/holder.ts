import { hostname, userInfo } from 'node:os';
import type { LockHolder } from '../engine/lock.ts';
import type { Context } from './context.ts';

/** Who takes the lock, for the message that others get. */
export const holder = (context: Context, command: string): LockHolder => ({
  who: `${userInfo().username}@${hostname()}`,
  pid: process.pid,
  since: new Date(context.nowMs()).toISOString(),
  command: `kbuild ${command}`,
});

/** True when a lock is held by a kbuild of this user on this machine that runs no more. */
export function isGone(heldBy: string): boolean {
  const [, who, pid] = /^by (\S+) \(pid (\d+)\) /.exec(heldBy) ?? [];
  if (who !== `${userInfo().username}@${hostname()}`) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
