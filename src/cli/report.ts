import { resolve } from 'node:path';
import { UsageError } from '../errors.ts';
import type { DocumentOf } from '../report/documents/index.ts';
import { jsonDocument } from '../report/json.ts';
import { lasting } from '../report/lasting.ts';
import { masker } from '../report/mask.ts';
import { REPORT_BEGINS, reportPage } from '../report/page/page.ts';
import type { RecordFile } from '../report/record/kept-records.ts';
import type { RunRecord } from '../report/record/line.ts';
import { summaryOf, type RunSummary } from '../report/record/summary.ts';
import { traceOf } from '../report/record/trace.ts';
import { table } from '../report/table.ts';
import { jsonText } from '../report/visible.ts';
import type { ReportOptions } from './commands/report.ts';
import type { Context } from './context.ts';
import { clusterOf, meantRecord, runsOf } from './recorded-runs.ts';
import { writeOwnFile } from './write-own-file.ts';

const STDOUT = '-';

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
  const ended =
    end === undefined ? undefined : { exitCode: end.exitCode, result: end.result, durationMs: end.durationMs };
  return { ...base, command: head.command, time: head.time, ...ended };
}

/** Lists the recorded runs on stdout. */
async function list(context: Context, flags: ReportOptions): Promise<number> {
  const cluster = await clusterOf(context, flags);
  const runs = runsOf(context, cluster).map(listed);
  if (flags.json === true) context.out(jsonDocument<'runs'>({ cluster, runs: runs.map(listJson) }));
  else context.out(`${table([['RUN', 'TIME (UTC)', 'COMMAND', 'RESULT', 'TOOK'], ...runs.map(listRow)])}\n`);
  return 0;
}

/** `prod-20261121t165045z-0a1b2c3d.html`. A record that the operator names may be another's: its names make no path. */
const fileName = ({ head: { cluster, run } }: RunRecord): string =>
  `${`${cluster}-${run}`.replaceAll(/[^A-Za-z0-9.-]/g, '_').replace(/^[.-]+/, '')}.html`;

/** The record was masked when it was written. A file that the operator names may be another's: what looks like a secret is masked. */
const masked = (record: RunRecord): RunRecord => masker().value(record);

/**
 * `kbuild report [RUN]`: a run as one HTML file, and as a Chrome trace. Contacts no host.
 * @throws UsageError when there is no such run, its record cannot be read, or a file that kbuild did not write would be overwritten
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
  if (flags.output === STDOUT) {
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
