import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Reporter } from '../engine/event.ts';

/** The run's full log: what was run where, and every event. NDJSON, 0600 from its first byte. */
export interface LogFile extends Reporter {
  readonly path: string;
  readonly write: (entry: object) => void;
}

/** Opens a log file; its folders are made 0700. Throws what the file system says. */
export function logFile(path: string): LogFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(path, 'a', 0o600);
  const write = (entry: object): void => {
    writeSync(file, `${JSON.stringify(entry)}\n`);
  };
  return {
    path,
    write,
    report: write,
    close: () => {
      closeSync(file);
      return Promise.resolve();
    },
  };
}
