import { lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** How the folders of this client begin: the process that made one follows, by its namespace and its number. */
const PREFIX = 'kbuild-openssh-';

/** The namespace in which this process has its number, as Linux numbers them: a container has its own. 0 where the system has none. */
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

/** Removes the folders that killed runs of this user left. They hold configurations and control sockets without a process. */
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
 * Makes the folder for the control sockets of this run, 0700: a process that reaches a control socket is logged in. Removes what killed
 * runs left in `parent` before.
 */
export function socketFolder(parent: string): string {
  const namespace = pidNamespace();
  removeLeftovers(parent, namespace);
  return mkdtempSync(join(parent, `${PREFIX}${namespace}-${String(process.pid)}-`));
}
