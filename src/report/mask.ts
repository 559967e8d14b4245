import { setImmediate } from 'node:timers/promises';
import { KbuildError, SeveralErrors } from '../errors.ts';
import { revealed, Secret } from '../shell/secret.ts';
import { withoutEnd } from '../shell/text.ts';
import { MASKED, shapesMasked } from './mask-shapes.ts';

/** Shorter values would blot out ordinary words. Also the length by which values are found in a text. */
const SHORTEST = 6;

/**
 * How a value of these bytes looks in base64 if so many bytes (modulo 3) stand before it: the characters that it alone
 * decides.
 */
function base64Within(bytes: Buffer, before: number): string {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
  return whole.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
}

const percent = (bytes: Buffer): string =>
  Array.from(bytes, (octet) => {
    const character = String.fromCharCode(octet);
    return /[\w.~-]/.test(character) ? character : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');

const HTML: readonly (readonly [character: string, written: string])[] = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&#34;'],
  ["'", '&#39;'],
];

const HTML_NAMED: typeof HTML = HTML.map(([character, written]) => [character, character === '"' ? '&quot;' : written]);

const replaced = (value: string, written: typeof HTML): string =>
  written.reduce((text, [from, to]) => text.replaceAll(from, to), value);

/** Go's encoding/json writes these characters as escapes. */
const GO: typeof HTML = [
  ['&', String.raw`\u0026`],
  ['<', String.raw`\u003c`],
  ['>', String.raw`\u003e`],
];

/** Characters beyond ASCII as `%q` of Go and JSON writers that keep to ASCII have them. */
const asciiOnly = (value: string): string =>
  value.replaceAll(/[^\0-\u007f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** All the ways in which programs write a value. */
function writtenForms(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const json = JSON.stringify(value).slice(1, -1);
  const base64 = [withoutEnd(bytes.toString('base64'), '='), ...[0, 1, 2].map((before) => base64Within(bytes, before))];
  const percentEncoded = percent(bytes);
  return [
    value,
    json,
    replaced(json, GO),
    asciiOnly(json),
    asciiOnly(replaced(json, GO)),
    value.replaceAll("'", String.raw`'\''`),
    replaced(value, HTML),
    replaced(value, HTML_NAMED),
    percentEncoded,
    percentEncoded.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
    percentEncoded.replaceAll('%20', '+'),
    encodeURIComponent(bytes.toString()),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ];
}

/** Values to be masked, found in a text in one pass, however many there are. */
interface MaskedValues {
  /** Masks this value, and each of its lines, in every way in which it may be written. */
  readonly add: (value: string) => void;
  readonly text: (text: string) => string;
}

const CODES = 1 << 16;
const pairCode = (text: string, at: number): number => (text.charCodeAt(at) * 31 + text.charCodeAt(at + 1)) % CODES;

/** An empty set of values. */
function maskedValues(): MaskedValues {
  const known = new Set<string>();
  /** Values by their first six characters, the longest first. */
  const byStart = new Map<string, string[]>();
  /** Which pairs of characters a value begins with: most places in a text need no further search. */
  const begins = new Uint8Array(CODES);

  const addOne = (value: string): void => {
    if (value.length < SHORTEST || known.has(value)) return;
    known.add(value);
    begins[pairCode(value, 0)] = 1;
    const start = value.slice(0, SHORTEST);
    const others = byStart.get(start) ?? [];
    byStart.set(
      start,
      [...others, value].sort((a, b) => b.length - a.length),
    );
  };
  const add = (value: string): void => {
    for (const part of [value.trim(), ...value.split('\n').map((line) => line.trim())])
      if (part.length >= SHORTEST && !/^-----(?:BEGIN|END)/.test(part))
        for (const form of writtenForms(part)) addOne(form);
  };
  const longestAt = (text: string, at: number): number =>
    byStart.get(text.slice(at, at + SHORTEST))?.find((value) => text.startsWith(value, at))?.length ?? 0;

  const text = (given: string): string => {
    if (known.size === 0) return given;
    let shown = '';
    /** The text before it is in `shown`, or is masked. */
    let done = 0;
    for (let at = 0; at <= given.length - SHORTEST; at++) {
      if (begins[pairCode(given, at)] === 0) continue;
      const length = longestAt(given, at);
      if (length === 0) continue;
      // A value that begins within another one is masked with it.
      if (at >= done) shown += `${given.slice(done, at)}${MASKED}`;
      done = Math.max(done, at + length);
    }
    return done === 0 ? given : `${shown}${given.slice(done)}`;
  };
  return { add, text };
}

/** Texts up to this length are remembered, so many of them: names, steps and summaries come again with every host. */
const REMEMBERED_LENGTH = 200;
const REMEMBERED = 2000;

/** Takes secrets out of texts. */
export interface Masker {
  /** Masks this value, and each of its lines, from now on. */
  readonly register: (secret: Secret) => void;
  /** Text without registered values and without anything of a secret's shape. */
  readonly text: (text: string) => string;
  /** The same value with every string in it masked. */
  readonly value: <T>(value: T) => T;
}

/** A masker that knows every Secret in `known`, however deep. */
export function masker(known?: unknown): Masker {
  const values = maskedValues();
  /** Texts as they are masked by the values of now. */
  const remembered = new Map<string, string>();
  const register = (secret: Secret): void => {
    remembered.clear();
    values.add(revealed(secret));
  };
  walk(known, register);

  const masking = (given: string): string => shapesMasked(values.text(given));
  const text = (given: string): string => {
    if (given.length > REMEMBERED_LENGTH) return masking(given);
    const known = remembered.get(given);
    if (known !== undefined) return known;
    const masked = masking(given);
    if (remembered.size >= REMEMBERED) remembered.clear();
    remembered.set(given, masked);
    return masked;
  };
  const value = <T>(given: T): T => {
    if (typeof given === 'string') return text(given) as T;
    if (given instanceof Secret || given === null || typeof given !== 'object') return given;
    if (Array.isArray(given)) return given.map((one: unknown) => value(one)) as T;
    return Object.fromEntries(Object.entries(given).map(([name, one]: [string, unknown]) => [name, value(one)])) as T;
  };
  return { register, text, value };
}

/** Characters that are masked at once: some tens of milliseconds. */
const PIECE = 256 * 1024;
/** A private key is at most so long, in characters: a piece does not end in one. */
const KEY = 64 * 1024;

/** Where the piece that begins at `from` ends: after a line, and after a private key that began in it. */
function endOfPiece(text: string, from: number): number {
  const line = text.indexOf('\n', from + PIECE);
  if (line === -1) return text.length;
  const key = text.slice(from, line).lastIndexOf('-----BEGIN ');
  const end = key === -1 ? -1 : text.indexOf('-----END ', from + key);
  if (end < line || end - (from + key) > KEY) return line + 1;
  const after = text.indexOf('\n', end);
  return after === -1 ? text.length : after + 1;
}

/**
 * A text of any length without secrets. Signals and timers of this process are heard meanwhile: locks need a heartbeat.
 */
export async function maskedInPieces(text: string, mask: Pick<Masker, 'text'>): Promise<string> {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    const end = endOfPiece(text, from);
    pieces.push(mask.text(text.slice(from, end)));
    from = end;
    await setImmediate();
  }
  return pieces.join('');
}

function walk(value: unknown, register: (secret: Secret) => void): void {
  if (value instanceof Secret) register(value);
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) walk(one, register);
}

/** Masks secrets in an error, in its stack and remedy, and in the errors that it consists of. Returns the error. */
export function maskError<E extends Error>(error: E, mask: Masker): E {
  error.message = mask.text(error.message);
  if (error.stack !== undefined) error.stack = mask.text(error.stack);
  if (error instanceof KbuildError && error.remedy !== undefined)
    Object.assign(error, { remedy: mask.text(error.remedy) });
  if (error instanceof SeveralErrors) for (const each of error.errors) maskError(each, mask);
  return error;
}
