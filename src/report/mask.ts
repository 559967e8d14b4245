import { setImmediate } from 'node:timers/promises';
import { KbuildError, SeveralErrors } from '../errors.ts';
import { revealed, Secret } from '../shell/secret.ts';
import { shapesMasked } from './mask-shapes.ts';
import { maskedValues } from './mask-values.ts';

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
