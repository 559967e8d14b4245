import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Fleet } from '../../facts/fleet.ts';
import type { Inventory } from '../../model/inventory.ts';
import { removeOldRecords, recordPath, tracePath } from '../../report/record/kept-records.ts';
import type { RunRecord } from '../../report/record/line.ts';
import { certificatesNote, clusterNote, hostsNote, recordHead } from '../../report/record/notes.ts';
import { ownRecord } from '../../report/record/own-record.ts';
import { recorder, type Recorder } from '../../report/record/recorder.ts';
import { traceOf } from '../../report/record/trace.ts';
import { jsonText } from '../../report/visible.ts';
import type { Context } from '../context.ts';
import type { Connected } from './connect.ts';
import { isAlive, processRealm } from './holder.ts';
import { sendSpans } from './send-spans.ts';
import type { RunOutput } from './run-output.ts';
import { recordFolder } from './state-folder.ts';

/** The run whose record it is. */
interface RecordedRun {
  readonly context: Context;
  readonly inventory: Inventory;
  readonly runId: string;
  readonly command: string;
  readonly startedMs: number;
}

/** The record of a run. */
export interface RunRecording {
  readonly recorder: Recorder;
  /** Writes the first line. */
  readonly begin: (output: Pick<RunOutput, 'mask'>) => void;
  /**
   * Notes how hosts and cluster are left, ends the record, writes the trace, removes the oldest records, and sends the spans
   * where the environment says so. Fails no run: what cannot be written is told in a line.
   */
  readonly end: (output: RunOutput, exitCode: number, connected: Connected | undefined) => Promise<void>;
}

/** Calls `write`; what fails there is in the log, and fails no run. */
function attempt(output: Pick<RunOutput, 'log'>, what: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    output.log({ kind: 'not-recorded', what, error: error instanceof Error ? (error.stack ?? error.message) : '' });
  }
}

/** Notes the hosts and the cluster as they were found. */
export function noteFound(output: Pick<RunOutput, 'note' | 'log'>, inventory: Inventory, fleet: Fleet): void {
  attempt(output, 'hosts', () => output.note(hostsNote(fleet)));
  attempt(output, 'cluster', () => output.note(clusterNote(inventory, fleet)));
}

/** Notes the cluster and the certificates as they are left. */
function noteLeft(output: Pick<RunOutput, 'note' | 'log'>, inventory: Inventory, fleet: Fleet): void {
  attempt(output, 'certificates', () => output.note(certificatesNote(inventory, fleet)));
  attempt(output, 'cluster', () => output.note(clusterNote(inventory, fleet)));
}

/** Writes the trace beside its record, whole or not at all. @throws the file system's error */
function writeTrace(path: string, record: RunRecord): void {
  const trace = tracePath(path);
  writeFileSync(`${trace}.tmp`, jsonText(traceOf(record)), { mode: 0o600, flag: 'wx' });
  renameSync(`${trace}.tmp`, trace);
}

/** A record in the cluster's folder. When the process is ended at once, what is still in memory is written all the same. */
export function runRecording({ context, inventory, runId, command, startedMs }: RecordedRun): RunRecording {
  const path = recordPath(recordFolder(context, inventory.name), runId, command);
  const made = recorder(path, (message) => context.err(`${message}\n`));
  return {
    recorder: made,
    begin({ mask }) {
      process.on('exit', made.flush);
      const time = new Date(startedMs).toISOString();
      const own = { pid: process.pid, realm: processRealm() ?? '' };
      const run = { time, run: runId, process: own, command, kbuild: context.version };
      made.write(mask.value(recordHead(inventory, run)));
    },
    async end(output, exitCode, connected) {
      if (connected !== undefined) noteLeft(output, inventory, connected.observations.fleet());
      const durationMs = context.nowMs() - startedMs;
      const result = output.standing.closing(exitCode, durationMs) ?? `ended with exit code ${String(exitCode)}`;
      output.note({ kind: 'end', exitCode, result, durationMs });
      made.close();
      process.off('exit', made.flush);
      if (!made.isWritten()) return;
      try {
        const record = ownRecord(readFileSync(path, 'utf8'));
        writeTrace(path, record);
        removeOldRecords(dirname(path), path, isAlive, context.nowMs());
        await sendSpans(context, output, record);
      } catch (error) {
        context.err(`no trace of this run: ${(error as Error).message}\n`);
      }
    },
  };
}
