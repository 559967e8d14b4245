import { gzipSync } from 'node:zlib';

/** One text file of an archive. */
export interface Entry {
  /** At most 100 bytes, relative. */
  readonly name: string;
  readonly text: string;
}

const BLOCK = 512;

/** A gzipped tar archive (POSIX ustar) of text files, all 0600. */
export function tarGz(entries: readonly Entry[], nowMs: number): Buffer {
  const blocks = entries.flatMap(({ name, text }) => {
    const content = Buffer.from(text);
    const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
    return [header(name, content.length, nowMs), content, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]));
}

function header(name: string, size: number, nowMs: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  if (Buffer.byteLength(name) > 100) throw new TypeError(`too long for the archive: ${name}`);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  block.write(name, 0);
  block.write(octal(0o600, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(Math.floor(nowMs / 1000), 11), 136);
  block.write(' '.repeat(8), 148);
  block.write('0', 156);
  block.write('ustar\u000000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}
