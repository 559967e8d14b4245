import { join } from 'node:path';
import type { Context } from '../context.ts';

/** Where kbuild keeps logs, records and snapshots of a cluster on this machine: below $XDG_STATE_HOME, default ~/.local/state. */
export function stateFolder({ env, cwd }: Pick<Context, 'env' | 'cwd'>, cluster: string): string {
  const state = env['XDG_STATE_HOME'] ?? join(env['HOME'] ?? cwd, '.local/state');
  return join(state, 'kbuild', cluster);
}

/** Where the records of a cluster's runs are. */
export const recordFolder = (context: Pick<Context, 'env' | 'cwd'>, cluster: string): string =>
  join(stateFolder(context, cluster), 'runs');

/** A time in UTC as names of files hold it, with its milliseconds: `20261121T165045-000`. */
export const stamp = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replaceAll(/[-:]|Z/g, '')
    .replace('.', '-');
