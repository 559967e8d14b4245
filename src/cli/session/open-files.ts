import { readFileSync } from 'node:fs';
import { UsageError } from '../../errors.ts';

/** Files that a run opens besides one connection a host: its log, keys, known_hosts, and those of Node. */
const OWN_FILES = 60;

/** How many files this process may have open; Infinity without /proc. Node has raised its soft limit already. */
function openFileLimit(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}

/** A run keeps a connection to each host open. @throws UsageError when this process may not open that many files */
export function checkOpenFiles(hosts: number, limit = openFileLimit()): void {
  if (hosts + OWN_FILES <= limit) return;
  throw new UsageError(
    `this process may have ${String(limit)} files open, and ${String(hosts)} hosts need ${String(hosts + OWN_FILES)}; no host was contacted`,
    { remedy: `ulimit -n ${String(hosts + OWN_FILES)} (ulimit -Hn shows how far it may be raised)` },
  );
}
