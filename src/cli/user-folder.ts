import { isAbsolute, join } from 'node:path';

/** The environment of a process. */
type Env = Readonly<Record<string, string | undefined>>;

/** A value that names a folder; undefined where it is unset, empty or relative, as the specification below demands. */
const absolute = (value: string | undefined): string | undefined =>
  value !== undefined && isAbsolute(value) ? value : undefined;

/**
 * The folder of one kind of a user's own files, as the XDG Base Directory Specification 0.8 says: the variable's, if it holds an
 * absolute path, otherwise `byDefault` below $HOME. undefined where $HOME is no absolute path either. Never a path that
 * depends on the working directory, which may be a repository of other people.
 */
export function userFolder(
  env: Env,
  variable: 'XDG_CACHE_HOME' | 'XDG_STATE_HOME',
  byDefault: string,
): string | undefined {
  const home = absolute(env['HOME']);
  return absolute(env[variable]) ?? (home === undefined ? undefined : join(home, byDefault));
}
