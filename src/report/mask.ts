import { revealed, Secret } from '../shell/secret.ts';

/** What stands where a secret stood. */
export const MASKED = '(secret)';

/** Shapes of secrets that nobody registered. A digest after `sha256:` is no secret, and stays. */
const SHAPES: readonly RegExp[] = [
  // One that is cut off ends with the text of a JSON document that it stands in.
  /-----BEGIN ((?:[A-Z0-9]+ )*PRIVATE KEY)-----[^"]*?(?:-----END \1-----|(?=")|$)/g,
  // A bootstrap token.
  /(?<![a-z0-9.:/-])[a-z0-9]{6}\.[a-z0-9]{16}(?![a-z0-9.-])/g,
  // A certificate key; a file's hash among the facts is called so.
  /(?<![0-9a-zA-Z:/@_-])(?<!"sha256": ")[0-9a-f]{64}(?![0-9a-zA-Z])/g,
  // Private keys and tokens of kubeconfigs.
  /(?<=\b(?:client-key-data|token|password): )[^\s"']{8,}/g,
  // A Service account's token, or any other JWT.
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g,
];

/** Shorter values would blot out ordinary words. */
const SHORTEST = 6;

/** Takes secrets out of texts. */
export interface Masker {
  /** From now on this value, and each of its lines, is masked. */
  readonly register: (secret: Secret) => void;
  /** Text without registered values and without anything of a secret's shape. */
  readonly text: (text: string) => string;
  /** The same value with every string in it masked. */
  readonly value: <T>(value: T) => T;
}

/** A masker that knows every Secret in `known`, however deep. */
export function masker(known?: unknown): Masker {
  const values = new Set<string>();
  const add = (value: string): void => {
    for (const part of [value.trim(), ...value.split('\n').map((one) => one.trim())]) {
      if (part.length < SHORTEST || /^-----(?:BEGIN|END)/.test(part)) continue;
      values.add(part);
      // As it stands in JSON, in base64 and in a shell's quotes.
      values.add(JSON.stringify(part).slice(1, -1));
      values.add(Buffer.from(part).toString('base64').replace(/=+$/, ''));
      values.add(part.replaceAll("'", String.raw`'\''`));
    }
  };
  const register = (secret: Secret): void => {
    add(revealed(secret));
  };
  walk(known, register);

  const text = (given: string): string => {
    let masked = given;
    for (const value of [...values].sort((a, b) => b.length - a.length)) masked = masked.replaceAll(value, MASKED);
    for (const shape of SHAPES) masked = masked.replace(shape, MASKED);
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

function walk(value: unknown, register: (secret: Secret) => void): void {
  if (value instanceof Secret) register(value);
  else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) walk(one, register);
}
