import { createPublicKey } from 'node:crypto';
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
export const inside = (value: DerValue): readonly DerValue[] => derValues(value.content);

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
