/** Programs on a terminal, as a person has them: what they write, what is typed, Ctrl-C. */
import { spawn } from 'node:child_process';
import { waitUntil } from './wait-until.ts';

/** A program on a terminal of its own. */
export interface OnTerminal {
  /** All that it has shown so far. */
  readonly shown: () => string;
  /** The same in the pieces in which it came: seconds since the start, and text. */
  readonly pieces: readonly (readonly [number, string])[];
  /** Returns when this has been shown. */
  readonly shows: (what: string | RegExp, deadlineMs: number) => Promise<void>;
  readonly type: (keys: string) => void;
  /** Exit code. */
  readonly ended: Promise<number | null>;
}

/** Of a terminal, in characters. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** What the key says to a terminal. */
export const CTRL_C = '\u0003';

/** A word as a shell reads it. */
export const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** Starts a program on a terminal (script(1)); `env` is all of its environment. */
export function onTerminal(
  program: readonly string[],
  env: Readonly<Record<string, string>>,
  { columns, rows }: Size = { columns: 80, rows: 24 },
): OnTerminal {
  const line = `stty cols ${String(columns)} rows ${String(rows)}; exec ${program.map(quoted).join(' ')}`;
  const child = spawn('script', ['-qfec', line, '/dev/null'], {
    env: { PATH: process.env['PATH'], TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  const from = performance.now();
  const pieces: [number, string][] = [];
  // A sign may be cut in two.
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    pieces.push([(performance.now() - from) / 1000, chunk]);
    text += chunk;
  });
  return {
    pieces,
    shown: () => text,
    shows: async (what, deadlineMs) => {
      await waitUntil(`${String(what)} on the terminal, which shows ${text.slice(-400)}`, deadlineMs, () =>
        typeof what === 'string' ? text.includes(what) : what.test(text),
      );
    },
    type: (keys) => child.stdin.write(keys),
    ended: new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    }),
  };
}
