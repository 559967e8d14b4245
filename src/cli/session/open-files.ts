import { readFileSync } from 'node:fs';
import { UsageError } from '../../errors.ts';

/** Files that a run has open besides a connection a host: its log, keys and known_hosts while they are read, Node's own. */
const OWN_FILES = 60;

/** How many files this process may have open; Infinity where the system does not say. Node has raised it as far as it may. */
function openFileLimit(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}

/** A connection to each of so many hosts stays open. @throws UsageError when this process may not have that many. */
export function checkOpenFiles(hosts: number, limit = openFileLimit()): void {
  if (hosts + OWN_FILES <= limit) return;
  throw new UsageError(
    `this process may have ${String(limit)} files open, and ${String(hosts)} hosts need ${String(hosts + OWN_FILES)}; no host was contacted`,
    { remedy: `ulimit -n ${String(hosts + OWN_FILES)} (ulimit -Hn shows how far it may be raised)` },
  );
}
