import { createHash } from 'node:crypto';
import { type Manifest, MANIFEST, manifestText, parseManifest, type Part } from './manifest.ts';

/**
 * Size of a block of a tar archive, in bytes. A header takes one block. The content of a file is padded to whole
 * blocks.
 */
export const TAR_BLOCK = 512;

/** The largest file that the header can describe, in bytes (11 octal digits). */
const TAR_LARGEST = 8 ** 11 - 1;

/** The checksum of a header: the sum of its bytes, with the field of the checksum itself read as spaces. */
const tarChecksum = (block: Buffer): number =>
  block.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 0x20 : byte), 0);

/**
 * The header of a regular file, 0600, in a tar archive (POSIX ustar). Throws `TypeError` on a name longer than 100
 * bytes.
 */
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

type Bytes = AsyncIterable<Uint8Array>;

/** A part that `archived` writes. */
export interface PartToWrite {
  readonly part: Part;
  readonly content: () => Bytes | Iterable<Uint8Array>;
}

const padding = (size: number): Uint8Array => Buffer.alloc((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);

/** A part whose content is a text in memory. */
export function textPart(name: string, text: string): PartToWrite {
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { part: { name, size: bytes.length, sha256 }, content: () => [bytes] };
}

/**
 * The bytes of a backup, not encrypted: a tar archive that begins with the manifest. Throws if a part differs from its
 * size or hash in the manifest: its file changed during the backup.
 */
export async function* archived(manifest: Manifest, parts: readonly PartToWrite[], nowMs: number): Bytes {
  for (const { part, content } of [textPart(MANIFEST, manifestText(manifest)), ...parts]) {
    yield tarHeader(part.name, part.size, nowMs);
    const hash = createHash('sha256');
    let size = 0;
    for await (const chunk of content()) {
      hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
    if (size !== part.size || hash.digest('hex') !== part.sha256)
      throw new Error(`${part.name} changed while the backup was written`);
    yield padding(size);
  }
  yield Buffer.alloc(2 * TAR_BLOCK);
}

/** A part that `readArchive` reads. The caller must read `content` to its end before the next part. */
export interface PartRead {
  readonly part: Part;
  readonly content: Bytes;
}

/** Upper limit of the manifest, in bytes. */
const LARGEST_MANIFEST = 4 * 1024 * 1024;

/** Reads exact numbers of bytes of a stream. */
class Source {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(bytes: Bytes) {
    this.#chunks = bytes[Symbol.asyncIterator]();
  }

  /** At most `limit` bytes; empty at the end. */
  async some(limit: number): Promise<Uint8Array> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return this.#rest;
      this.#rest = next.value;
    }
    const found = this.#rest.subarray(0, limit);
    this.#rest = this.#rest.subarray(found.length);
    return found;
  }

  /** @throws Error at an early end */
  async *exactly(size: number): Bytes {
    for (let left = size; left > 0;) {
      const found = await this.some(left);
      if (found.length === 0) throw new Error('it is cut off');
      left -= found.length;
      yield found;
    }
  }

  async all(size: number): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.exactly(size)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }
}

const textAt = (block: Buffer, from: number, length: number): string =>
  block
    .subarray(from, from + length)
    .toString('latin1')
    .split('\0', 1)[0]!
    .trim();

/** Name and size from a header. Throws unless it is the header of a regular file as `tarHeader` writes it. */
function headerOf(block: Buffer): { readonly name: string; readonly size: number } {
  const sum = Number.parseInt(textAt(block, 148, 8), 8);
  if (sum !== tarChecksum(block) || textAt(block, 257, 6) !== 'ustar' || block[156] !== '0'.charCodeAt(0))
    throw new Error('it is not a backup of kbuild');
  return { name: textAt(block, 0, 100), size: Number.parseInt(textAt(block, 124, 12), 8) };
}

async function* verified(content: Bytes, { name, sha256 }: Part): Bytes {
  const hash = createHash('sha256');
  for await (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('hex') !== sha256) throw new Error(`${name} does not match its hash in the manifest`);
}

/**
 * Reads a decrypted backup: calls `use` with every part, in the order of the manifest, and verifies its hash at its
 * end. Never opens a file by the name of a part. Throws an error with the reason if the backup is damaged. The caller
 * must then discard all that it has read.
 */
export async function readArchive(bytes: Bytes, use: (read: PartRead) => Promise<void>): Promise<Manifest> {
  const source = new Source(bytes);
  const first = headerOf(await source.all(TAR_BLOCK));
  if (first.name !== MANIFEST || !(first.size <= LARGEST_MANIFEST))
    throw new Error(`it does not begin with ${MANIFEST}`);
  const manifest = parseManifest((await source.all(first.size)).toString('utf8'));
  await source.all(padding(first.size).length);
  for (const part of manifest.parts) {
    const { name, size } = headerOf(await source.all(TAR_BLOCK));
    if (name !== part.name || size !== part.size)
      throw new Error(`it has ${name} where its manifest says ${part.name}`);
    await use({ part, content: verified(source.exactly(size), part) });
    await source.all(padding(size).length);
  }
  if ((await source.all(2 * TAR_BLOCK)).some((byte) => byte !== 0))
    throw new Error('it has more than its manifest says');
  // Only the end of the stream proves that the file was not cut off.
  if ((await source.some(1)).length > 0) throw new Error('it has more than its manifest says');
  return manifest;
}
