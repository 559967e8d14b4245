import { StringDecoder } from 'node:string_decoder';

/** A longer line is cut: no reader waits for such a line. */
const MAX_LINE = 64 * 1024;

/** Turns chunks into lines. Lines that came before the first listener are kept for it. */
export function lineReader(): { add(chunk: Buffer): void; onLine(listener: (line: string) => void): void } {
  const decoder = new StringDecoder('utf8');
  const early: string[] = [];
  const listeners: ((line: string) => void)[] = [];
  let rest = '';

  return {
    add(chunk) {
      const parts = (rest + decoder.write(chunk)).split('\n');
      rest = parts.pop()!.slice(0, MAX_LINE);
      for (const line of parts) {
        if (listeners.length === 0) early.push(line);
        for (const listener of listeners) listener(line);
      }
    },
    onLine(listener) {
      listeners.push(listener);
      for (const line of early.splice(0)) listener(line);
    },
  };
}
