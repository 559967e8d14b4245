import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

/** A valid signature of a key about itself, its user ID or its subkey. */
export interface KeySignature {
  /** When it was made, in s since 1970. */
  readonly madeS: number;
  /** How long the key lives after it was made, in s; 0: for ever. */
  readonly lifetimeS: number;
  /** Whether the key may sign; undefined if the signature has no key flags. */
  readonly canSign: boolean | undefined;
  /** True if it revokes its subject. */
  readonly revokes: boolean;
}

/** The subject of a signature, by its packet's tag. */
interface Subject {
  readonly tag: number;
  readonly body: Buffer;
}

/** By their numbers in RFC 4880 (9.4). */
const HASHES: Readonly<Record<number, string>> = { 2: 'sha1', 8: 'sha256', 9: 'sha384', 10: 'sha512', 11: 'sha224' };

/** By their object identifiers: name in a JWK and octets of a coordinate. */
const CURVES: Readonly<Record<string, readonly [string, number]>> = {
  '2a8648ce3d030107': ['P-256', 32],
  '2b81040022': ['P-384', 48],
  '2b81040023': ['P-521', 66],
};
const ED25519 = '2b06010401da470f01';

/** Numbers of public-key algorithms (RFC 9580, 9.1). */
const RSA = [1, 3];
const ECDSA = 19;
const EDDSA = 22;
const ED25519_NATIVE = 27;

const SUBKEY_TAG = 14;
const USER_ATTRIBUTE_TAG = 17;

/** Reads big numbers, each with its length in bits before it. */
function numbers(data: Buffer, count: number): readonly Buffer[] {
  let at = 0;
  return Array.from({ length: count }, () => {
    const octets = Math.ceil(data.readUInt16BE(at) / 8);
    const from = at + 2;
    at = from + octets;
    if (at > data.length) throw new RangeError('cut off');
    return data.subarray(from, at);
  });
}

const padded = (value: Buffer, octets: number): Buffer =>
  Buffer.concat([Buffer.alloc(Math.max(0, octets - value.length)), value]);

const jwk = (key: Readonly<Record<string, string | Buffer>>): KeyObject =>
  createPublicKey({
    format: 'jwk',
    key: Object.fromEntries(
      Object.entries(key).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : value.toString('base64url'),
      ]),
    ),
  });

/** True when the key made this signature; false for an algorithm that is not known here. */
function isSignedBy(primary: Buffer, signed: Buffer, hash: string, values: Buffer): boolean {
  const algorithm = primary[5]!;
  const material = primary.subarray(6);
  if (RSA.includes(algorithm)) {
    const [n, e] = numbers(material, 2);
    return verify(hash, signed, jwk({ kty: 'RSA', n: n!, e: e! }), padded(numbers(values, 1)[0]!, n!.length));
  }
  if (algorithm === ED25519_NATIVE) {
    const key = jwk({ kty: 'OKP', crv: 'Ed25519', x: material.subarray(0, 32) });
    return verify(null, createHash(hash).update(signed).digest(), key, values.subarray(0, 64));
  }
  if (algorithm !== ECDSA && algorithm !== EDDSA) return false;
  const curve = material.subarray(1, 1 + material[0]!).toString('hex');
  const [point] = numbers(material.subarray(1 + material[0]!), 1);
  const [r, s] = numbers(values, 2);
  if (algorithm === EDDSA) {
    if (curve !== ED25519) return false;
    const key = jwk({ kty: 'OKP', crv: 'Ed25519', x: point!.subarray(1) });
    const digest = createHash(hash).update(signed).digest();
    return verify(null, digest, key, Buffer.concat([padded(r!, 32), padded(s!, 32)]));
  }
  const known = CURVES[curve];
  if (known === undefined) return false;
  const [crv, octets] = known;
  const [x, y] = [point!.subarray(1, 1 + octets), point!.subarray(1 + octets)];
  const signature = Buffer.concat([padded(r!, octets), padded(s!, octets)]);
  return verify(hash, signed, { key: jwk({ kty: 'EC', crv, x, y }), dsaEncoding: 'ieee-p1363' }, signature);
}

/** Subpackets by type (RFC 4880, 5.2.3.1). */
function subpackets(data: Buffer): ReadonlyMap<number, Buffer> {
  const found = new Map<number, Buffer>();
  for (let at = 0; at < data.length;) {
    let length = data.readUInt8(at++);
    if (length === 255) {
      length = data.readUInt32BE(at);
      at += 4;
    } else if (length >= 192) length = ((length - 192) << 8) + data.readUInt8(at++) + 192;
    // The highest bit marks a type that a reader must know.
    found.set(data.readUInt8(at) & 0x7f, data.subarray(at + 1, at + length));
    at += length;
  }
  return found;
}

const withLength = (head: number, octets: 2 | 4, body: Buffer): Buffer => {
  const prefix = Buffer.alloc(1 + octets);
  prefix[0] = head;
  prefix.writeUIntBE(body.length, 1, octets);
  return Buffer.concat([prefix, body]);
};

/** Types of signatures that revoke a key, its subkey, and a user ID of it. */
const REVOCATIONS: readonly number[] = [0x20, 0x28, 0x30];

/** The octets that a signature of this type signs after the key; undefined for another type (RFC 4880, 5.2.4). */
function subjectText(type: number, subject: Subject | undefined): Buffer | undefined {
  if (subject === undefined) return type === 0x1f || type === 0x20 ? Buffer.alloc(0) : undefined;
  if (subject.tag === SUBKEY_TAG) return type === 0x18 || type === 0x28 ? withLength(0x99, 2, subject.body) : undefined;
  if ((type < 0x10 || type > 0x13) && type !== 0x30) return undefined;
  return withLength(subject.tag === USER_ATTRIBUTE_TAG ? 0xd1 : 0xb4, 4, subject.body);
}

/**
 * Parses a signature packet. undefined unless this key made the signature, over itself (no `subject`), its user ID or
 * its subkey, with an algorithm that this file knows.
 */
export function keySignature(packet: Buffer, primary: Buffer, subject?: Subject): KeySignature | undefined {
  try {
    const [version, type, , hashNumber] = packet;
    const hash = HASHES[hashNumber!];
    const text = subjectText(type!, subject);
    if (version !== 4 || hash === undefined || text === undefined) return undefined;
    const hashedEnd = 6 + packet.readUInt16BE(4);
    const trailer = withLength(0xff, 4, packet.subarray(0, hashedEnd)).subarray(0, 5);
    const head = [withLength(0x99, 2, primary), text, packet.subarray(0, hashedEnd), Buffer.from([4]), trailer];
    // After the subpackets that are not signed come two octets of the digest.
    const values = packet.subarray(hashedEnd + 2 + packet.readUInt16BE(hashedEnd) + 2);
    if (!isSignedBy(primary, Buffer.concat(head), hash, values)) return undefined;
    const signed = subpackets(packet.subarray(6, hashedEnd));
    const flags = signed.get(27)?.[0];
    return {
      madeS: signed.get(2)?.readUInt32BE(0) ?? 0,
      lifetimeS: signed.get(9)?.readUInt32BE(0) ?? 0,
      canSign: flags === undefined ? undefined : (flags & 2) !== 0,
      revokes: REVOCATIONS.includes(type!),
    };
  } catch {
    return undefined;
  }
}
