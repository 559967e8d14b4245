/** Size of a block of a tar archive, in bytes: a header is one, and the content of a file is padded to whole ones. */
export const TAR_BLOCK = 512;

/** The largest file that the header can describe, in bytes (11 octal digits). */
const TAR_LARGEST = 8 ** 11 - 1;

/** The sum of a header's bytes, with the sum itself read as spaces. */
export const tarChecksum = (block: Buffer): number =>
  block.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 0x20 : byte), 0);

/** The header of a regular file, 0600, in a tar archive (POSIX ustar). Throws `TypeError` on a name longer than 100 bytes. */
export function tarHeader(name: string, size: number, nowMs: number): Buffer {
  const block = Buffer.alloc(TAR_BLOCK);
  if (Buffer.byteLength(name) > 100) throw new TypeError(`too long for the archive: ${name}`);
  if (size > TAR_LARGEST) throw new TypeError(`too large for the archive: ${name}`);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  block.write(name, 0);
  block.write(octal(0o600, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(Math.floor(nowMs / 1000), 11), 136);
  block.write('0', 156);
  block.write('ustar\u000000', 257, 'latin1');
  block.write(`${tarChecksum(block).toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}
