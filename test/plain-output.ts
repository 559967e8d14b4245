import { stripVTControlCharacters } from 'node:util';

type Write = (chunk: string | Uint8Array, ...rest: readonly never[]) => boolean;

/**
 * Keeps colour codes out of files and pipes: vitest colours its output wherever TERM has a value. Workers, and the programs that tests
 * start, inherit what this sets; vitest itself has coloured some of its words by now. FORCE_COLOR asks for colours all the same.
 */
export function plainUnlessTerminal(): void {
  if ('FORCE_COLOR' in process.env) return;
  if (!process.stdout.isTTY) process.env['NO_COLOR'] = '1';
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.isTTY) continue;
    const write: Write = stream.write.bind(stream);
    stream.write = (chunk: string | Uint8Array, ...rest: readonly never[]) =>
      write(typeof chunk === 'string' ? stripVTControlCharacters(chunk) : chunk, ...rest);
  }
}
