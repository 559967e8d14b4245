import { closeSync, existsSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Reporter } from '../engine/event.ts';
import { UsageError } from '../errors.ts';
import { systemText } from '../shell/text.ts';
import { jsonText } from './text.ts';

/**
 * Makes a folder and those above it, each 0700. Node's own recursive mkdir goes round in circles below /proc. @throws
 * the system's error
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** The run's full log: each command with its host, and every event. NDJSON, 0600 from its first byte. */
interface LogFile extends Reporter {
  readonly write: (entry: object) => void;
}

/**
 * Opens a log file; its folders are made 0700. A log that cannot be written any more (a full disk) is reported to
 * `onFailure` once, and ends nothing. @throws UsageError when it cannot be opened.
 */
export function logFile(path: string, onFailure: (error: Error) => void): LogFile {
  const file = opened(path);
  let failed = false;
  let closed = false;
  const write = (entry: object): void => {
    // A command may still report after its run has ended.
    if (failed || closed) return;
    try {
      writeSync(file, `${jsonText(entry)}\n`);
    } catch (error) {
      failed = true;
      onFailure(error as Error);
    }
  };
  return {
    write,
    report: write,
    close: () => {
      closed = true;
      closeSync(file);
      return Promise.resolve();
    },
  };
}

function opened(path: string): number {
  try {
    makeFolder(dirname(path));
    return openSync(path, 'a', 0o600);
  } catch (error) {
    throw new UsageError(`${path}, the log of the run, cannot be written: ${systemText(error)}`, {
      remedy: 'name another place with --log-file PATH',
      cause: error,
    });
  }
}
