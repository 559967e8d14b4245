import { KbuildError, SeveralErrors } from '../errors.ts';
import { revealed, Secret } from '../shell/secret.ts';

/** What stands where a secret stood. */
export const MASKED = '(secret)';

/** Names of settings that hold a secret. `secret` alone is far more often the name of an object. */
const NAME = String.raw`[\w.-]*(?:password|passwd|passphrase|token|api[_-]?key|access[_-]?key|secret[_-]?key|[\w.-]secret)`;

/** Named secrets. Group 1 stands before the secret, and stays. */
const NAMED: readonly RegExp[] = [
  // `"password":"…"`, also in a JSON text within another; `auth` is a login of a registry.
  new RegExp(String.raw`((\\*")(?:${NAME}|auth)\2\s*:\s*\2)(?:(?!\2)(?:\\.|[^\n\\"]))+`, 'gi'),
  new RegExp(String.raw`('(?:${NAME}|auth)'\s*:\s*')[^'"\n\\]+(?=')`, 'gi'),
  // `DB_PASSWORD=…`
  new RegExp(
    String.raw`((?<![\w.-])${NAME}=)(?!true\b|false\b)(?:"(?![,:}\]\s])(?:\\.|[^"\n\\])+"|'[^'\n\\"]+'|[^\s"',;&\\]+)`,
    'gi',
  ),
  // `--password …`
  new RegExp(String.raw`(\s--?${NAME} )[^\s"'\\-][^\s"'\\]*`, 'gi'),
  // `password: …` of YAML; a reference of the inventory is none.
  new RegExp(
    String.raw`(\b(?:client-key-data|${NAME}): )(?!(?:env|file|command):)(?:"(?![,:}\]\s])(?:\\.|[^"\n\\])+"|'[^'\n\\"]+'|[^\s"'\\]{8,})`,
    'gi',
  ),
  // A key by which the API server encrypts.
  /(\bsecret: ["']?)[A-Za-z0-9+/]{22,}={0,2}(?![\w./-])/g,
  // A header, of any scheme.
  /(\bauthorization(?:\\*["'])?[ \t]*[:=][ \t]*(?:\\*["'])?(?:basic|bearer|digest|negotiate|token) )[^\s"'\\,;]+/gi,
  /(\bauthorization(?:\\*["'])?[ \t]*[:=][ \t]*(?:\\*["'])?)[\w.~+/-]{20,}=*/gi,
  /(\bbearer )[\w.~+/-]{16,}=*/gi,
  // The password in a URL.
  /(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@"']*:)[^\s/@"'\\]+(?=@)/gi,
];

/** A line without any of these names no secret. Most lines need no further search. */
const MAY_NAME = /pass|token|key|secret|auth|bearer|:\/\/[^\s/]*@/i;

const namedMasked = (line: string): string =>
  NAMED.reduce((masked, shape) => masked.replace(shape, `$1${MASKED}`), line);

/** kubeadm's certificate key, maybe in the next line. Other numbers of this length are hashes and containers. */
const CERTIFICATE_KEY = /(certificate[-_ ]?key(?:["'\s:=,]|\\[n"])+)[0-9a-f]{64}(?![0-9a-z])/gi;

/** Patterns of secrets that were not registered. A digest after `sha256:` is no secret, and stays. */
const SHAPES: readonly RegExp[] = [
  // One that is cut off ends with the text of a JSON document that it stands in.
  /-----BEGIN ((?:[A-Z0-9]+ )*PRIVATE KEY)-----[^"]*?(?:-----END \1-----|(?=")|$)/g,
  // A bootstrap token.
  /(?<![a-z0-9.:/-])[a-z0-9]{6}\.[a-z0-9]{16}(?![a-z0-9.-])/g,
  // A certificate key, alone in a line as kubeadm prints it.
  /^[0-9a-f]{64}$/gm,
  // A Service account's token, or any other JWT.
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g,
  // Tokens of GitHub, GitLab and Slack.
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-)[\w-]{16,}/g,
];

/** Shorter values would blot out ordinary words. */
const SHORTEST = 6;

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
  const values = new Set<string>();
  /** The longest first: a value may contain another. Undefined after a value was added. */
  let longestFirst: readonly string[] | undefined;
  /** Texts as they are masked by the values of now. */
  const remembered = new Map<string, string>();
  const add = (value: string): void => {
    remembered.clear();
    for (const part of [value.trim(), ...value.split('\n').map((one) => one.trim())]) {
      if (part.length < SHORTEST || /^-----(?:BEGIN|END)/.test(part)) continue;
      longestFirst = undefined;
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

  const masking = (given: string): string => {
    let masked = given;
    longestFirst ??= [...values].sort((a, b) => b.length - a.length);
    for (const value of longestFirst) masked = masked.replaceAll(value, MASKED);
    for (const shape of SHAPES) masked = masked.replace(shape, MASKED);
    masked = masked.replace(CERTIFICATE_KEY, `$1${MASKED}`);
    return masked
      .split('\n')
      .map((line) => (MAY_NAME.test(line) ? namedMasked(line) : line))
      .join('\n');
  };
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
