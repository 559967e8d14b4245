import { accessSync, constants, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** The environment of a process. */
type Env = Readonly<Record<string, string | undefined>>;

/** A value that names a folder; undefined where it is unset, empty or relative, as the specification below demands. */
const absolute = (value: string | undefined): string | undefined =>
  value !== undefined && isAbsolute(value) ? value : undefined;

/**
 * The folder of one kind of a user's own files, as the XDG Base Directory Specification 0.8 says: the variable's, if it
 * holds an absolute path, otherwise `byDefault` below $HOME. undefined where $HOME is no absolute path either. Never a
 * path that depends on the working directory, which may be a repository of other people.
 */
export function userFolder(
  env: Env,
  variable: 'XDG_CACHE_HOME' | 'XDG_STATE_HOME',
  byDefault: string,
): string | undefined {
  const home = absolute(env['HOME']);
  return absolute(env[variable]) ?? (home === undefined ? undefined : join(home, byDefault));
}

/** True for a folder that this user owns and can write to. */
function isOwnFolder(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    const { uid } = statSync(path);
    return uid === process.geteuid?.();
  } catch {
    return false;
  }
}

/**
 * Where files lie that a run needs as long as it lasts: $XDG_RUNTIME_DIR if it is this user's, for root /run, both
 * tmpfs on Linux; elsewhere the system's folder of temporary files.
 */
export const runtimeFolder = (env: Env): string =>
  [absolute(env['XDG_RUNTIME_DIR']), '/run'].find((path) => path !== undefined && isOwnFolder(path)) ?? tmpdir();
