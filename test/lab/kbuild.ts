/** kbuild as its users run it: the built program, another process. */
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { TimedEvent } from '../../src/engine/event.ts';
import { outputFaults } from '../tools/documents.ts';

/** How a kbuild ended. */
export interface Ran {
  /** Exit code; null when it was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
}

/** A kbuild that runs. */
export interface Running {
  readonly pid: number;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** What it has printed on stdout so far. */
  readonly printed: () => string;
  /** … and on stderr. */
  readonly said: () => string;
  readonly ended: Promise<Ran>;
}

/** The built program. */
export const PROGRAM = new URL('../../dist/cli/main.js', import.meta.url).pathname;

/** Starts kbuild; its standard input is empty, so that it asks no questions. `killAfterMs`: SIGKILL after this time. */
export function start(args: readonly string[], options: { readonly killAfterMs?: number } = {}): Running {
  const from = performance.now();
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const timer =
    options.killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), options.killAfterMs);
  const ended = new Promise<Ran>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      try {
        // Every document and event of the lab is held to the schema that docs/schemas publishes.
        const faults = code === null ? [] : outputFaults(args, stdout);
        if (faults.length > 0) throw new Error(faults.slice(0, 5).join('; '));
        resolve({ code, stdout, stderr, seconds: (performance.now() - from) / 1000 });
      } catch (error) {
        reject(new Error(`kbuild ${args.join(' ')}: ${(error as Error).message}\n${stdout}`, { cause: error }));
      }
    });
  });
  return { pid: child.pid!, kill: (signal) => child.kill(signal), printed: () => stdout, said: () => stderr, ended };
}

/** Runs kbuild to its end. */
export const kbuild = (...args: readonly string[]): Promise<Ran> => start(args).ended;

/** A folder of its own with an inventory in it; `--kubeconfig` and `--log-file` belong there too. */
export function inventoryFile(inventory: object): { readonly folder: string; readonly file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-lab-'));
  const file = join(folder, 'inventory.yaml');
  writeFileSync(file, stringify(inventory, { aliasDuplicateObjects: false }));
  return { folder, file };
}

/** The events of a `--json` run. */
export const eventsOf = ({ stdout }: Pick<Ran, 'stdout'>): readonly TimedEvent[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as TimedEvent);
