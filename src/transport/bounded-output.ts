/** Collects output in bounded memory. */
interface BoundedOutput {
  add(chunk: Buffer): void;
  /** What was kept, as UTF-8; the place of what was dropped is marked. */
  text(): string;
  /** Bytes dropped so far. */
  dropped(): number;
}

/** Keeps the beginning and the end, half of `maxBytes` each: operators need these two. */
export function boundedOutput(maxBytes: number): BoundedOutput {
  const half = Math.max(1, Math.floor(maxBytes / 2));
  const head: Buffer[] = [];
  const tail: Buffer[] = [];
  let headBytes = 0;
  let tailBytes = 0;
  let droppedBytes = 0;

  const addToTail = (chunk: Buffer) => {
    tail.push(chunk);
    tailBytes += chunk.length;
    let first = tail[0]!;
    while (tailBytes - first.length >= half) {
      tail.shift();
      tailBytes -= first.length;
      droppedBytes += first.length;
      first = tail[0]!;
    }
    if (tailBytes > half) {
      tail[0] = first.subarray(tailBytes - half);
      droppedBytes += tailBytes - half;
      tailBytes = half;
    }
  };

  return {
    add(chunk) {
      const fits = chunk.subarray(0, half - headBytes);
      if (fits.length > 0) {
        head.push(fits);
        headBytes += fits.length;
      }
      if (fits.length < chunk.length) addToTail(chunk.subarray(fits.length));
    },
    text() {
      if (droppedBytes === 0) return Buffer.concat([...head, ...tail]).toString('utf8');
      const mark = `\n[${String(droppedBytes)} bytes left out]\n`;
      return Buffer.concat(head).toString('utf8') + mark + Buffer.concat(tail).toString('utf8');
    },
    dropped: () => droppedBytes,
  };
}
