import { accessSync, constants, lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
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

/** How the folders of the OpenSSH client begin: the process that made one follows, by its namespace and its number. */
const PREFIX = 'kbuild-openssh-';

/**
 * The namespace in which this process has its number, as Linux numbers them: a container has its own. 0 where the
 * system has none.
 */
function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}

/** True if no process of this number runs. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/**
 * Removes the folders that killed runs of this user left. They hold configurations and control sockets without a
 * process.
 */
function removeLeftovers(parent: string, namespace: string): void {
  for (const name of readdirSync(parent)) {
    const [, of, pid] = /^kbuild-openssh-(\d+)-(\d+)-\w+$/.exec(name) ?? [];
    if (pid === undefined || of !== namespace || !isGone(Number(pid))) continue;
    const folder = join(parent, name);
    try {
      const { uid } = lstatSync(folder);
      if (uid === process.geteuid?.()) rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another run removes it at the same time.
    }
  }
}

/**
 * Makes the folder for the control sockets of this run, 0700: a process that reaches a control socket is logged in.
 * Removes what killed runs left in `parent` before.
 */
export function socketFolder(parent: string): string {
  const namespace = pidNamespace();
  removeLeftovers(parent, namespace);
  return mkdtempSync(join(parent, `${PREFIX}${namespace}-${String(process.pid)}-`));
}
