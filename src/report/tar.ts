import { gzipSync } from 'node:zlib';
import { TAR_BLOCK, tarHeader } from '../shell/tar-header.ts';

/** One text file of an archive. */
export interface Entry {
  /** At most 100 bytes, relative. */
  readonly name: string;
  readonly text: string;
}

/** A gzipped tar archive (POSIX ustar) of text files, all 0600. */
export function tarGz(entries: readonly Entry[], nowMs: number): Buffer {
  const blocks = entries.flatMap(({ name, text }) => {
    const content = Buffer.from(text);
    const padding = Buffer.alloc((TAR_BLOCK - (content.length % TAR_BLOCK)) % TAR_BLOCK);
    return [tarHeader(name, content.length, nowMs), content, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * TAR_BLOCK)]));
}
