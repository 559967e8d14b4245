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
