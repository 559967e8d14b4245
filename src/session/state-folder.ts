import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { UsageError } from '../errors.ts';
import type { Context } from './context.ts';
import { userFolder } from './user-folder.ts';

/**
 * The user's home folder as the system knows it: a service of systemd has no $HOME. @throws UsageError if there is none
 */
function systemHome(): string {
  try {
    const { homedir } = userInfo();
    if (isAbsolute(homedir)) return homedir;
  } catch {
    // The user has no entry in passwd, as in some containers.
  }
  throw new UsageError('there is no folder for logs and records (found no home folder of this user)', {
    remedy: 'set HOME or XDG_STATE_HOME to an absolute path',
  });
}

/**
 * Where kbuild keeps logs, records and snapshots of a cluster on this machine: below $XDG_STATE_HOME, default
 * ~/.local/state.
 * @throws UsageError if there is no home folder
 */
export function stateFolder({ env }: Pick<Context, 'env'>, cluster: string): string {
  const state = userFolder(env, 'XDG_STATE_HOME', '.local/state') ?? join(systemHome(), '.local/state');
  return join(state, 'kbuild', cluster);
}

/** Where the records of a cluster's runs are. */
export const recordFolder = (context: Pick<Context, 'env'>, cluster: string): string =>
  join(stateFolder(context, cluster), 'runs');

/** A time in UTC as names of files hold it, with its milliseconds: `20261121T165045-000`. */
export const stamp = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replaceAll(/[-:]|Z/g, '')
    .replace('.', '-');
