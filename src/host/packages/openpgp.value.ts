import { createHash } from 'node:crypto';
import { keySignature, type KeySignature } from './openpgp-signature.value.ts';

/** Tags of the packets that a file of public keys has (RFC 4880, 4.3). */
const TAG = { signature: 2, primaryKey: 6, marker: 10, trust: 12, userId: 13, subkey: 14, userAttribute: 17 } as const;

/** Packets without meaning for a key: the copy leaves them out. */
const LEFT_OUT: readonly number[] = [TAG.marker, TAG.trust];
const KNOWN: readonly number[] = Object.values(TAG);

const BEGIN = '-----BEGIN PGP PUBLIC KEY BLOCK-----';
const END = '-----END PGP PUBLIC KEY BLOCK-----';

/** The keys of a whole distribution take a tenth of it, in bytes. A server may send anything. */
const MOST_BYTES = 1024 * 1024;

/**
 * Until when a key can verify signatures, in ms since 1970: a revoked one, until it was revoked. `unknown` where no
 * self-signature could be verified.
 */
export type KeyEnd = number | 'never' | 'unknown';

/** One primary key with its subkeys. */
interface PublicKey {
  /** 40 upper-case hexadecimal digits. */
  readonly fingerprint: string;
  readonly end: KeyEnd;
}

/** The content of a key file. */
export interface KeyFile {
  readonly keys: readonly PublicKey[];
  /** Exactly the packets that were read, as one armoured block, which package managers read from a key file. */
  readonly armoured: string;
}

/** CRC-24 of an armour (RFC 4880, 6.1). */
function checksum(data: Buffer): string {
  let crc = 0xb704ce;
  for (const octet of data) {
    crc ^= octet << 16;
    for (let bit = 0; bit < 8; bit++) {
      crc <<= 1;
      if ((crc & 0x1000000) !== 0) crc ^= 0x1864cfb;
    }
  }
  return Buffer.from([crc >> 16, crc >> 8, crc]).toString('base64');
}

function armouredBlock(data: Buffer): string {
  const lines = data.toString('base64').match(/.{1,64}/g) ?? [];
  return [BEGIN, '', ...lines, `=${checksum(data)}`, END, ''].join('\n');
}

interface Packet {
  readonly tag: number;
  readonly body: Buffer;
  /** Header and body as they stand in the file. */
  readonly whole: Buffer;
}

/** The data of one armoured block, by the lines between its ends. */
function blockData(block: readonly string[]): Buffer {
  const data = block.slice(block.findIndex((line) => line.trim() === '') + 1);
  return Buffer.from(data.filter((line) => !line.startsWith('=')).join(''), 'base64');
}

/** Every armoured block of a text. An armour's headers end at its first blank line; the line with `=` is a checksum. */
function dearmoured(text: string): Buffer {
  const blocks: Buffer[] = [];
  let block: string[] | undefined;
  for (const line of text.replaceAll('\r', '').split('\n')) {
    const mark = line.trimEnd();
    if (block === undefined) {
      if (mark === BEGIN) block = [];
    } else if (mark === END) {
      blocks.push(blockData(block));
      block = undefined;
    } else block.push(line);
  }
  if (block !== undefined) throw new Error('the OpenPGP key is cut off');
  if (blocks.length === 0) throw new Error('not an OpenPGP key');
  return Buffer.concat(blocks);
}

function* packets(data: Buffer): Generator<Packet> {
  let at = 0;
  while (at < data.length) {
    const from = at;
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
    yield { tag, body: data.subarray(at, at + length), whole: data.subarray(from, at + length) };
    at += length;
  }
}

/** Version 4: SHA-1 over 0x99, the length in two octets, and the packet (RFC 4880, 12.2). */
function fingerprint(body: Buffer): string {
  if (body[0] !== 4) throw new Error(`an OpenPGP key of version ${String(body[0])}; only version 4 is supported`);
  const head = Buffer.from([0x99, body.length >> 8, body.length & 0xff]);
  return createHash('sha1').update(head).update(body).digest('hex').toUpperCase();
}

/** Valid self-signatures by their subject: the key itself, a user ID or a subkey. */
interface Part {
  readonly about: Packet;
  readonly signatures: KeySignature[];
}

function partsOf(primary: Packet, rest: readonly Packet[]): readonly Part[] {
  const parts: Part[] = [{ about: primary, signatures: [] }];
  for (const packet of rest) {
    if (packet.tag !== TAG.signature) {
      parts.push({ about: packet, signatures: [] });
      continue;
    }
    const { about, signatures } = parts.at(-1)!;
    const signature = keySignature(packet.body, primary.body, about === primary ? undefined : about);
    if (signature !== undefined) signatures.push(signature);
  }
  return parts;
}

/** The newest signature that states something. Nothing counts of a user ID or a subkey that was revoked. */
const newest = (signatures: readonly KeySignature[]): KeySignature | undefined =>
  signatures.some(({ revokes }) => revokes) ? undefined : [...signatures].sort((a, b) => b.madeS - a.madeS)[0];

const endOf = ({ body }: Packet, lifetimeS: number): KeyEnd =>
  lifetimeS === 0 ? 'never' : (body.readUInt32BE(1) + lifetimeS) * 1000;

const earlier = (a: number | 'never', b: number | 'never'): number | 'never' =>
  a === 'never' ? b : b === 'never' ? a : Math.min(a, b);

/**
 * As gpg reads it: a lifetime of the newest direct signature, else of the newest user ID's that has one. A key that
 * only certifies ends with the last of its signing subkeys.
 */
function keyEnd(parts: readonly Part[]): KeyEnd {
  const [own, ...others] = parts as readonly [Part, ...Part[]];
  const revocations = own.signatures.filter(({ revokes }) => revokes);
  if (revocations.length > 0) return Math.min(...revocations.map(({ madeS }) => madeS)) * 1000;
  const direct = newest(own.signatures);
  const users = others
    .filter(({ about }) => about.tag !== TAG.subkey)
    .flatMap(({ signatures }) => newest(signatures) ?? []);
  const stating = newest([direct ?? [], users].flat());
  // gpg does not use a key without a user ID that the key itself has signed.
  if (stating === undefined || users.length === 0) return 'unknown';
  const lifetimeS = direct?.lifetimeS || newest(users.filter((one) => one.lifetimeS > 0))?.lifetimeS || 0;
  const end = endOf(own.about, lifetimeS) as number | 'never';
  if ((direct?.canSign ?? stating.canSign) !== false) return end;
  const subkeys = others.flatMap(({ about, signatures }) => {
    const bound = about.tag === TAG.subkey ? newest(signatures) : undefined;
    return bound?.canSign === true ? [endOf(about, bound.lifetimeS)] : [];
  });
  if (subkeys.length === 0) return end;
  return earlier(end, subkeys.includes('never') ? 'never' : Math.max(...(subkeys as readonly number[])));
}

/**
 * Reads a file of public keys whole: binary, or every armoured block of a text, each with any number of keys.
 * Throws on anything that is not a file of public keys, and on a packet that no public key has.
 */
export function readKeyFile(file: Buffer): KeyFile {
  if (file.length > MOST_BYTES)
    throw new Error(`a key file of ${String(file.length)} bytes; at most ${String(MOST_BYTES)} are read`);
  const data = (file[0]! & 0x80) === 0 ? dearmoured(file.toString('latin1')) : file;
  let all: readonly Packet[];
  try {
    all = [...packets(data)].filter(({ tag }) => !LEFT_OUT.includes(tag));
  } catch (error) {
    if (error instanceof RangeError) throw new Error('the OpenPGP key is cut off', { cause: error });
    throw error;
  }
  const odd = all.find(({ tag }) => !KNOWN.includes(tag));
  if (odd !== undefined)
    throw new Error(`an OpenPGP packet of type ${String(odd.tag)}, which is no part of a public key`);
  const starts = all.flatMap(({ tag }, i) => (tag === TAG.primaryKey ? [i] : []));
  if (all.length > 0 && starts[0] !== 0) throw new Error('an OpenPGP packet that belongs to no key');
  const keys = starts.map((start, i): PublicKey => {
    const [primary, ...rest] = all.slice(start, starts[i + 1]);
    return { fingerprint: fingerprint(primary!.body), end: keyEnd(partsOf(primary!, rest)) };
  });
  return { keys, armoured: armouredBlock(Buffer.concat(all.map(({ whole }) => whole))) };
}
