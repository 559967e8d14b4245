import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../errors.ts';
import { clusterName, isClusterName } from '../inventory/cluster-name.ts';
import { recordsIn, type RecordFile } from '../report/record/kept-records.ts';
import type { RunRecord } from '../report/record/line.ts';
import { readRecord } from '../report/record/read.ts';
import type { ReportOptions } from './commands/report.ts';
import type { Context } from './context.ts';
import { DEFAULT_INVENTORY, inventoryFile } from './session/inventory-file.ts';
import { recordFolder, stateFolder } from './session/state-folder.ts';

/** How many runs an error names. */
const NAMED = 5;

/** Clusters with records on this machine. */
function clustersWithRuns(context: Context): readonly string[] {
  try {
    const names = readdirSync(dirname(stateFolder(context, 'any')));
    return names.filter((name) => recordsIn(recordFolder(context, name)).length > 0).toSorted();
  } catch {
    return [];
  }
}

/** The names of clusters, in brackets. */
const others = (names: readonly string[]): string => (names.length === 0 ? '' : ` (here: ${names.join(', ')})`);

/** The cluster whose runs are meant. @throws UsageError, InventoryError */
export async function clusterOf(context: Context, flags: ReportOptions): Promise<string> {
  const { cluster } = flags;
  const { env, cwd } = context;
  const file = inventoryFile(context, flags);
  if (cluster === undefined && file === DEFAULT_INVENTORY && !existsSync(resolve(cwd, file)))
    throw new UsageError(`there is no ${file} here that names a cluster`, {
      remedy: `name an inventory with -i, or a cluster with --cluster${others(clustersWithRuns(context))}`,
    });
  if (cluster === undefined) return clusterName({ file, env, cwd });
  if (!isClusterName(cluster))
    throw new UsageError(`--cluster "${cluster}": a cluster has a name of lower-case letters, digits and hyphens`);
  return cluster;
}

/** The recorded runs of a cluster, the newest first. @throws UsageError if there is none */
export function runsOf(context: Context, cluster: string): readonly RecordFile[] {
  const folder = recordFolder(context, cluster);
  const runs = recordsIn(folder).toReversed();
  if (runs.length > 0) return runs;
  throw new UsageError(`no run of ${cluster} is recorded on this machine (looked in ${folder})`, {
    remedy: `every command that contacts hosts leaves one; name another cluster with --cluster${others(clustersWithRuns(context))}, or the path of a record`,
  });
}

/** True for what names a file and no run. */
const isPath = (run: string): boolean => run.includes('/') || run.endsWith('.ndjson');

/** The run that `name` means: the newest, that of an id or its beginning, or the newest of a command. @throws UsageError */
function chosenRun(runs: readonly RecordFile[], name: string | undefined): RecordFile {
  if (name === undefined) return runs[0]!;
  const command = name.trim().replaceAll(/\s+/g, '-');
  const newest = runs.find((run) => run.command === command);
  if (newest !== undefined) return newest;
  const found = runs.filter(({ run }) => run.startsWith(name.toLowerCase()));
  if (found.length === 1) return found[0]!;
  const shown = (some: readonly RecordFile[]): string =>
    `${some
      .slice(0, NAMED)
      .map((one) => `${one.run} (${one.command})`)
      .join(', ')}${some.length > NAMED ? ', …' : ''}`;
  if (found.length > 1)
    throw new UsageError(`"${name}" is the beginning of ${String(found.length)} runs: ${shown(found)}`, {
      remedy: 'write more of the id',
    });
  throw new UsageError(`no run begins with "${name}", and no run of such a command is recorded`, {
    remedy: `the newest runs are ${shown(runs)}; kbuild report --list shows all`,
  });
}

/** Reads the record of the run that the command line means. @throws UsageError, InventoryError */
export async function meantRecord(
  context: Context,
  flags: ReportOptions,
  name: string | undefined,
): Promise<RunRecord> {
  const path =
    name !== undefined && isPath(name)
      ? resolve(context.cwd, name)
      : chosenRun(runsOf(context, await clusterOf(context, flags)), name).path;
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`the record cannot be read: ${(error as Error).message}`, { cause: error });
  }
  return readRecord(content, path);
}
