import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Fleet } from '../cluster/fleet/fleet.ts';
import type { LockHolder } from '../engine/lock-holder.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { RunRecord } from '../report/record/line.ts';
import { certificatesNote, clusterNote, hostsNote, recordHead } from '../report/record/notes.ts';
import {
  ownRecord,
  recorder,
  type Recorder,
  recordPath,
  removeOldRecords,
  tracePath,
} from '../report/record/record-files.ts';
import { traceOf } from '../report/record/trace.ts';
import { jsonText } from '../report/text.ts';
import type { Connected } from './connect.ts';
import { type Context, recordFolder } from './context.ts';
import type { RunOutput } from './output.ts';
import type { Run } from './run.ts';
import { sendSpans } from './spans.ts';

/**
 * Identifies where process ids are unique: this boot of this machine, and the process namespace in it. Two containers
 * may have the same user, machine name and process ids. undefined if /proc does not show both.
 */
function processRealm(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const namespace = readlinkSync('/proc/self/ns/pid');
    return createHash('sha256').update(`${boot} ${namespace}`).digest('hex').slice(0, 8);
  } catch {
    return undefined;
  }
}

/** This run as the holder of a lock. Other runs show it in their message. */
export const holder = ({ command, context, runId }: Pick<Run, 'command' | 'context' | 'runId'>): LockHolder => {
  const realm = processRealm();
  return {
    who: `${userInfo().username}@${hostname()}`,
    pid: process.pid,
    since: new Date(context.nowMs()).toISOString(),
    command: `kbuild ${command}`,
    run: `${runId}${realm === undefined ? '' : ` in ${realm}`}`,
  };
};

/** Whether a process runs; `unknown` for one of another machine, container or boot. */
function isAlive({ pid, realm }: { readonly pid: number; readonly realm: string }): boolean | 'unknown' {
  if (realm === '' || realm !== processRealm()) return 'unknown';
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** True if the holder of a lock is a run of this machine, or of this container, whose process has ended. */
export function isGone(heldBy: string): boolean {
  const [, pid, realm] = /^by \S+ \(pid (\d+)\) since \S+, run \S+ in (\w+): /.exec(heldBy) ?? [];
  return realm !== undefined && isAlive({ pid: Number(pid), realm }) === false;
}

/** The run whose record it is. */
interface RecordedRun {
  readonly context: Context;
  readonly inventory: Inventory;
  /** The inventory's file, absolute; undefined for one on standard input. */
  readonly inventoryPath: string | undefined;
  readonly runId: string;
  readonly command: string;
  readonly startedMs: number;
}

/** The record of a run. */
export interface RunRecording {
  readonly recorder: Recorder;
  /** Writes the first line. */
  readonly begin: (output: Pick<RunOutput, 'mask' | 'logPath'>) => void;
  /**
   * Notes how hosts and cluster are left, ends the record, writes the trace, removes the oldest records, and sends the
   * spans where the environment says so. Fails no run: what cannot be written is told in a line.
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

/**
 * A record in the cluster's folder. When the process is ended at once, what is still in memory is written all the same.
 */
export function runRecording(of: RecordedRun): RunRecording {
  const { context, inventory, inventoryPath, runId, command, startedMs } = of;
  const path = recordPath(recordFolder(context, inventory.name), runId, command);
  const made = recorder(path, (message) => context.err(`${message}\n`));
  return {
    recorder: made,
    begin({ mask, logPath }) {
      process.on('exit', made.flush);
      const time = new Date(startedMs).toISOString();
      const own = { pid: process.pid, realm: processRealm() ?? '' };
      const run = {
        ...{ time, run: runId, process: own, command, kbuild: context.version },
        ...(inventoryPath === undefined ? {} : { inventory: inventoryPath }),
        log: resolve(context.cwd, logPath),
      };
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
