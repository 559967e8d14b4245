import { createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import ipaddr from 'ipaddr.js';

/** One value of DER, the encoding of certificates. */
interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  /** All bytes of the value, tag and length included. */
  readonly whole: Buffer;
}

const LONG_FORM = 0x80;
const MAX_LENGTH_BYTES = 4;

/** Parses a sequence of values. Throws on bytes that are cut off or no DER. */
function derValues(bytes: Buffer): readonly DerValue[] {
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
const inside = (value: DerValue): readonly DerValue[] => derValues(value.content);

/** The key and the names of a certificate, or of a request. */
export interface Certified {
  /** The public key, SPKI in DER as base64. */
  readonly publicKey: string;
  /** `O=system:nodes`, `CN=…`; attributes of other kinds by their object identifier in hexadecimal. */
  readonly subject: readonly string[];
  /** Subject alternative names: `DNS:…`, `IP:…`, others by tag and content in hexadecimal. */
  readonly names: readonly string[];
}

const SEQUENCE = 0x30;
/** Object identifiers, their content in hexadecimal. */
const ATTRIBUTES: Readonly<Record<string, string>> = { '550403': 'CN', '55040a': 'O', '55040b': 'OU' };
const EXTENSION_REQUEST = '2a864886f70d01090e';
const SUBJECT_ALTERNATIVE_NAMES = '551d11';
/** Context-specific tags of a request's attributes and a certificate's version and extensions. */
const [REQUEST_ATTRIBUTES, VERSION, EXTENSIONS] = [0xa0, 0xa0, 0xa3];
const [DNS_NAME, IP_ADDRESS] = [0x82, 0x87];

const hex = ({ content }: DerValue): string => content.toString('hex');

function at(values: readonly DerValue[], index: number): DerValue {
  const value = values[index];
  if (value === undefined) throw new Error('something is missing in it');
  return value;
}

const subjectOf = (name: DerValue): readonly string[] =>
  inside(name)
    .flatMap(inside)
    .map((attribute) => {
      const [kind, value] = [at(inside(attribute), 0), at(inside(attribute), 1)];
      return `${ATTRIBUTES[hex(kind)] ?? hex(kind)}=${value.content.toString('utf8')}`;
    })
    .sort();

const nameOf = ({ tag, content }: DerValue): string => {
  if (tag === DNS_NAME) return `DNS:${content.toString('utf8')}`;
  if (tag === IP_ADDRESS && [4, 16].includes(content.length))
    return `IP:${ipaddr.fromByteArray([...content]).toString()}`;
  return `${tag.toString(16)}:${content.toString('hex')}`;
};

/** The subject alternative names in a list of extensions. */
function namesOf(extensions: DerValue | undefined): readonly string[] {
  const found =
    extensions === undefined
      ? undefined
      : inside(extensions).find((extension) => hex(at(inside(extension), 0)) === SUBJECT_ALTERNATIVE_NAMES);
  if (found === undefined) return [];
  // An extension is an identifier, an optional criticality, and the value, which comes last.
  const octets = inside(found).at(-1)!;
  return inside(at(inside(octets), 0))
    .map(nameOf)
    .sort();
}

const keyOf = (spki: DerValue): string =>
  createPublicKey({ key: spki.whole, format: 'der', type: 'spki' })
    .export({ type: 'spki', format: 'der' })
    .toString('base64');

/** The bytes of the first PEM block of a kind; undefined if there is none. */
export function pemBytes(text: string, kind: string): Buffer | undefined {
  const found = new RegExp(`-----BEGIN ${kind}-----([A-Za-z0-9+/=\\s]+)-----END ${kind}-----`).exec(text);
  return found === null ? undefined : Buffer.from(found[1]!, 'base64');
}

/** Parses a certificate request (PKCS#10, PEM). Throws on any other text. */
export function requested(pem: string): Certified {
  const bytes = pemBytes(pem, '(?:NEW )?CERTIFICATE REQUEST');
  if (bytes === undefined) throw new Error('it is no PEM certificate request');
  const [, name, key, ...attributes] = inside(at(inside(at(derValues(bytes), 0)), 0));
  if (name === undefined || key === undefined) throw new Error('something is missing in it');
  const asked = attributes
    .filter(({ tag }) => tag === REQUEST_ATTRIBUTES)
    .flatMap(inside)
    .find((attribute) => hex(at(inside(attribute), 0)) === EXTENSION_REQUEST);
  const extensions = asked === undefined ? undefined : at(inside(at(inside(asked), 1)), 0);
  return { publicKey: keyOf(key), subject: subjectOf(name), names: namesOf(extensions) };
}

/** Parses a certificate (DER). Throws on other bytes. */
export function certified(bytes: Buffer): Certified {
  const all = inside(at(inside(at(derValues(bytes), 0)), 0));
  // Serial number, algorithm, issuer and validity come before subject and key. The version is optional.
  const parts = at(all, 0).tag === VERSION ? all.slice(1) : all;
  const [name, key] = [at(parts, 4), at(parts, 5)];
  if (name.tag !== SEQUENCE || key.tag !== SEQUENCE) throw new Error('it is no certificate');
  const extensions = parts.find(({ tag }) => tag === EXTENSIONS);
  return {
    publicKey: keyOf(key),
    subject: subjectOf(name),
    names: namesOf(extensions === undefined ? undefined : at(inside(extensions), 0)),
  };
}

/** One value of DER (X.690): tag, length, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);

const DAY_MS = 24 * 60 * 60_000;

/** UTCTime: `YYMMDDhhmmssZ`, for the years that it has (RFC 5280, 4.1.2.5.1). */
const utcTime = (ms: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`));

/** 1.2.840.10045.4.3.2, 2.5.4.3 and 2.5.29.17. */
const OID = {
  ecdsaWithSha256: der(0x06, Buffer.from('2a8648ce3d040302', 'hex')),
  commonName: der(0x06, Buffer.from('550403', 'hex')),
  subjectAltName: der(0x06, Buffer.from('551d11', 'hex')),
};

/**
 * A certificate of its own key for 127.0.0.1 (RFC 5280), and the key, both PEM: for a listener of one run. Valid from a
 * day before to a year after `nowMs`. Node can read certificates and make none.
 */
export function loopbackCertificate(nowMs: number): { readonly certificate: string; readonly key: string } {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(OID.commonName, der(0x0c, Buffer.from('kbuild')))));
  const algorithm = sequence(OID.ecdsaWithSha256);
  const names = sequence(der(0x87, Buffer.from([127, 0, 0, 1])));
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    // Positive, and never with a leading zero.
    der(0x02, Buffer.from([1]), randomBytes(15)),
    algorithm,
    name,
    sequence(utcTime(nowMs - DAY_MS), utcTime(nowMs + 365 * DAY_MS)),
    name,
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(OID.subjectAltName, der(0x04, names)))),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
  const text = sequence(content, algorithm, signature).toString('base64').replace(/.{64}/g, '$&\n').trim();
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
