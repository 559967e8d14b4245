import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { UsageError } from '../errors.ts';
import { clusterName, isClusterName } from '../inventory/file/load.ts';
import { type DocumentOf, jsonDocument } from '../report/json.ts';
import { masker } from '../report/mask.ts';
import { REPORT_BEGINS, reportPage } from '../report/page/page.ts';
import type { Note, RecordHead, RunRecord } from '../report/record/line.ts';
import { readRecord } from '../report/record/read.ts';
import { type RecordFile, recordsIn } from '../report/record/record-files.ts';
import { traceOf } from '../report/record/trace.ts';
import { jsonText, lasting, table } from '../report/text.ts';
import { type Context, recordFolder, stateFolder } from '../session/context.ts';
import { DEFAULT_INVENTORY, inventoryFile, inventoryPath } from '../session/inventory.ts';
import { systemText } from '../shell/text.ts';
import { writeOwnFile } from './own-file.ts';
import type { ReportOptions } from './tools.command.ts';

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
async function clusterOf(context: Context, flags: ReportOptions): Promise<string> {
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

/**
 * The recorded runs of a cluster, the newest first. Where the inventory and not `--cluster` names it, those of this
 * inventory: two clusters may have one name. All of them if no run says that it was of this file, which may have moved.
 * @throws UsageError if there is none
 */
function runsOf(context: Context, flags: ReportOptions, cluster: string): readonly RecordFile[] {
  const folder = recordFolder(context, cluster);
  const runs = recordsIn(folder).toReversed();
  const path = flags.cluster === undefined ? inventoryPath(context, flags) : undefined;
  const inventories = path === undefined ? [] : runs.map((run) => inventoryIn(listed(run)));
  if (inventories.includes(path)) return runs.filter((_, i) => [path, undefined].includes(inventories[i]));
  if (runs.length > 0) return runs;
  throw new UsageError(`no run of ${cluster} is recorded on this machine (looked in ${folder})`, {
    remedy:
      'every command that contacts hosts leaves one; name another cluster with ' +
      `--cluster${others(clustersWithRuns(context))}, or the path of a record`,
  });
}

/** True for what names a file and no run. */
const isPath = (run: string): boolean => run.includes('/') || run.endsWith('.ndjson');

/**
 * The run that `name` means: the newest, that of an id or its beginning, or the newest of a command. @throws UsageError
 */
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
async function meantRecord(context: Context, flags: ReportOptions, name: string | undefined): Promise<RunRecord> {
  const path =
    name !== undefined && isPath(name)
      ? resolve(context.cwd, name)
      : chosenRun(runsOf(context, flags, await clusterOf(context, flags)), name).path;
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`the record cannot be read: ${systemText(error)}`, { cause: error });
  }
  return readRecord(content, path);
}

/** A run in short. */
interface RunSummary {
  readonly head: RecordHead;
  /** Undefined: the run was killed, or still runs. */
  readonly end: Extract<Note, { readonly kind: 'end' }> | undefined;
}

const CHUNK = 64 * 1024;

/** A first line of thousands of hosts is no longer. */
const LONGEST = 8 * 1024 * 1024;

/** The first line of a file and its last 64 KiB. */
function edges(path: string): readonly [first: string, last: string] {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const read = (from: number): Buffer => {
      const bytes = Buffer.alloc(CHUNK);
      return bytes.subarray(0, readSync(file, bytes, 0, CHUNK, from));
    };
    const chunks: Buffer[] = [];
    for (let at = 0; at < Math.min(size, LONGEST) && chunks.at(-1)?.includes(0x0a) !== true; at += CHUNK)
      chunks.push(read(at));
    const [first = ''] = Buffer.concat(chunks).toString().split('\n', 1);
    return [first, read(Math.max(0, size - CHUNK)).toString()];
  } finally {
    closeSync(file);
  }
}

/**
 * How a run began and ended. Reads only the edges of its record.
 * @throws UsageError for a file of another format, and for one that is no record; the file system's error
 */
function summaryOf(path: string, name: string): RunSummary {
  const [first, last] = edges(path);
  const lastLine = last.endsWith('\n') ? last.trimEnd().split('\n').at(-1)! : '';
  const { head, lines } = readRecord(`${first}\n${lastLine}\n`, name);
  const [line] = lines;
  return { head, end: line?.kind === 'end' ? line : undefined };
}

/** What a trace begins with. */
const TRACE_BEGINS = '{"displayTimeUnit"';

/** A run in the list, or why its record cannot be read. */
type Listed = { readonly file: RecordFile } & (RunSummary | { readonly unreadable: string });

function listed(file: RecordFile): Listed {
  try {
    return { file, ...summaryOf(file.path, file.run) };
  } catch (error) {
    return { file, unreadable: (error as Error).message };
  }
}

/** Undefined where the record does not say. */
const inventoryIn = (one: Listed): string | undefined => ('unreadable' in one ? undefined : one.head.inventory);

/** `2026-11-21 16:50:45` in UTC. */
const timeText = (time: string): string => time.slice(0, 19).replace('T', ' ');

function listRow(one: Listed): readonly string[] {
  const { file } = one;
  if ('unreadable' in one) return [file.run, '', file.command, one.unreadable, ''];
  const { head, end } = one;
  const result = end === undefined ? 'no end: killed, or still running' : end.result;
  return [head.run, timeText(head.time), head.command, result, end === undefined ? '' : lasting(end.durationMs)];
}

function listJson(one: Listed): DocumentOf<'runs'>['runs'][number] {
  const { file } = one;
  const base = { run: file.run, command: file.command, path: file.path };
  if ('unreadable' in one) return { ...base, unreadable: one.unreadable };
  const { head, end } = one;
  const inventory = inventoryIn(one);
  const ended =
    end === undefined ? undefined : { exitCode: end.exitCode, result: end.result, durationMs: end.durationMs };
  return {
    ...base,
    command: head.command,
    time: head.time,
    ...(inventory === undefined ? {} : { inventory }),
    ...ended,
  };
}

/** Lists the recorded runs on stdout. */
async function list(context: Context, flags: ReportOptions): Promise<number> {
  const cluster = await clusterOf(context, flags);
  const runs = runsOf(context, flags, cluster).map(listed);
  if (flags.json === true) context.out(jsonDocument<'runs'>({ cluster, runs: runs.map(listJson) }));
  else {
    // Two clusters of one name.
    const isMixed = new Set(runs.flatMap((one) => inventoryIn(one) ?? [])).size > 1;
    const rows = runs.map((one) => [...listRow(one), ...(isMixed ? [inventoryIn(one) ?? ''] : [])]);
    const head = ['RUN', 'TIME (UTC)', 'COMMAND', 'RESULT', 'TOOK', ...(isMixed ? ['INVENTORY'] : [])];
    context.out(`${table([head, ...rows])}\n`);
  }
  return 0;
}

/** `prod-20261121t165045z-0a1b2c3d.html`. A record that the operator names may be another's: its names make no path. */
const fileName = ({ head: { cluster, run } }: RunRecord): string =>
  `${`${cluster}-${run}`.replaceAll(/[^A-Za-z0-9.-]/g, '_').replace(/^[.-]+/, '')}.html`;

/** kbuild masks what it writes. A file that the operator names may be another's: what looks like a secret is masked. */
const masked = (record: RunRecord): RunRecord => masker().value(record);

/**
 * `kbuild report [RUN]`: a run as one HTML file, and as a Chrome trace. Contacts no host.
 * @throws UsageError when there is no such run, its record cannot be read, or a file that kbuild did not write would be
 * overwritten
 */
export async function runReport(context: Context, flags: ReportOptions, [name]: readonly string[]): Promise<number> {
  if (flags.list === true) {
    if (name !== undefined) throw new UsageError('--list takes no run: it lists all of them');
    return list(context, flags);
  }
  const record = masked(await meantRecord(context, flags, name));
  const { cluster, run, command, time } = record.head;
  const files: { page?: string; trace?: string } = {};
  if (flags.trace !== undefined) {
    files.trace = resolve(context.cwd, flags.trace);
    writeOwnFile(files.trace, jsonText(traceOf(record)), TRACE_BEGINS);
  }
  if (flags.output === '-') {
    if (flags.json === true) throw new UsageError('-o - and --json both want standard output');
    context.out(reportPage(record));
  } else if (flags.output !== undefined || flags.trace === undefined) {
    files.page = resolve(context.cwd, flags.output ?? fileName(record));
    writeOwnFile(files.page, reportPage(record), REPORT_BEGINS);
  }
  if (flags.json === true) context.out(jsonDocument<'report'>({ cluster, run, command, time, ...files }));
  else if (flags.quiet !== true)
    for (const file of Object.values(files)) context.err(`wrote ${file}: kbuild ${command} of ${timeText(time)} UTC\n`);
  return 0;
}
