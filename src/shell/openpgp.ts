import { createHash } from 'node:crypto';

/** OpenPGP packet tag of a primary public key (RFC 4880, 4.3). */
const PUBLIC_KEY = 6;

const BEGIN = '-----BEGIN PGP PUBLIC KEY BLOCK-----';
const END = '-----END PGP PUBLIC KEY BLOCK-----';

function dearmoured(armour: string): Buffer {
  const body = armour.slice(armour.indexOf(BEGIN) + BEGIN.length, armour.indexOf(END));
  // Armour headers end at the first blank line; the line with `=` is a checksum.
  const data = body
    .replaceAll('\r', '')
    .split(/\n[ \t]*\n/)
    .slice(1)
    .join('\n')
    .split('\n');
  return Buffer.from(data.filter((line) => !line.startsWith('=')).join(''), 'base64');
}

function* packets(data: Buffer): Generator<{ readonly tag: number; readonly body: Buffer }> {
  let at = 0;
  while (at < data.length) {
    const header = data[at++]!;
    if ((header & 0x80) === 0) throw new Error('not an OpenPGP key');
    let tag: number;
    let length: number;
    if ((header & 0x40) === 0) {
      tag = (header >> 2) & 0x0f;
      const octets = [1, 2, 4][header & 3];
      if (octets === undefined) throw new Error('an OpenPGP packet without a length');
      length = data.readUIntBE(at, octets);
      at += octets;
    } else {
      tag = header & 0x3f;
      const first = data.readUInt8(at++);
      if (first < 192) length = first;
      else if (first < 224) length = ((first - 192) << 8) + data.readUInt8(at++) + 192;
      else if (first === 255) {
        length = data.readUInt32BE(at);
        at += 4;
      } else throw new Error('an OpenPGP packet in parts');
    }
    if (at + length > data.length) throw new Error('the OpenPGP key is cut off');
    yield { tag, body: data.subarray(at, at + length) };
    at += length;
  }
}

/** Version 4: SHA-1 over 0x99, the length in two octets, and the packet (RFC 4880, 12.2). */
function fingerprint(body: Buffer): string {
  if (body[0] !== 4) throw new Error(`an OpenPGP key of version ${String(body[0])}; only version 4 is supported`);
  const head = Buffer.from([0x99, body.length >> 8, body.length & 0xff]);
  return createHash('sha1').update(head).update(body).digest('hex').toUpperCase();
}

/**
 * Fingerprints (40 upper-case hexadecimal digits) of all primary keys in a key file, armoured or binary.
 * Throws on anything that is not a file of public keys.
 */
export function keyFingerprints(file: Buffer): readonly string[] {
  const start = file.subarray(0, 4096).toString('latin1');
  const data = start.includes(BEGIN) ? dearmoured(file.toString('latin1')) : file;
  return [...packets(data)].filter(({ tag }) => tag === PUBLIC_KEY).map(({ body }) => fingerprint(body));
}

/** The key file as text: apt takes that form from a file named `.asc`. */
export function armoured(file: Buffer): string {
  const text = file.toString('latin1');
  if (text.includes(BEGIN)) return text;
  return `${BEGIN}\n\n${file
    .toString('base64')
    .replaceAll(/(.{64})/g, '$1\n')
    .trimEnd()}\n${END}\n`;
}
