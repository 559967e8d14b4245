import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** What a retention may delete. */
interface Retention {
  /** How many files stay. */
  readonly keep: number;
  /** Names of files that this run wrote: they stay, whatever their names sort after. */
  readonly written: ReadonlySet<string>;
}

/**
 * Deletes the oldest of these files by their names, which end with the time, until `keep` are left. A file that this run wrote is never one
 * of them: a clock that was ahead once, or that of another machine, gives older files later names. Returns the names of the deleted files.
 */
export async function keepNewest(
  folder: string,
  names: readonly string[],
  { keep, written }: Retention,
): Promise<readonly string[]> {
  const others = names.filter((name) => !written.has(name)).toSorted();
  const room = Math.max(0, keep - (names.length - others.length));
  const old = others.slice(0, Math.max(0, others.length - room));
  for (const name of old) await rm(join(folder, name), { force: true });
  return old;
}
