/** One value of DER, the encoding of certificates. */
export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  /** With tag and length. */
  readonly whole: Buffer;
}

const LONG_FORM = 0x80;
const MAX_LENGTH_BYTES = 4;

/** Parses a sequence of values. Throws on bytes that are cut off or no DER. */
export function derValues(bytes: Buffer): readonly DerValue[] {
  const values: DerValue[] = [];
  let at = 0;
  while (at < bytes.length) {
    const from = at;
    const tag = bytes.readUInt8(at);
    let length = bytes.readUInt8(at + 1);
    at += 2;
    if (length >= LONG_FORM) {
      const octets = length - LONG_FORM;
      if (octets === 0 || octets > MAX_LENGTH_BYTES) throw new Error('no DER: a length of more than four bytes');
      length = bytes.readUIntBE(at, octets);
      at += octets;
    }
    if (at + length > bytes.length) throw new Error('no DER: it ends too early');
    values.push({ tag, content: bytes.subarray(at, at + length), whole: bytes.subarray(from, at + length) });
    at += length;
  }
  return values;
}

/** The values inside a value. */
export const inside = (value: DerValue): readonly DerValue[] => derValues(value.content);
