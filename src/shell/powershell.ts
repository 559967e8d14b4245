import type { Command } from './command.ts';
import { revealed, type Secret } from './secret.ts';

/** What a parameter of a PowerShell script may be: it travels as JSON, so nothing in it is ever read as code. */
export type PsValue = string | number | boolean | null | readonly PsValue[] | { readonly [key: string]: PsValue };

/** What the bootstrap reads on its standard input. */
export interface Payload {
  /** Functions that are defined before the script runs. */
  readonly common: string;
  readonly script: string;
  readonly name: string;
  readonly params: Readonly<Record<string, PsValue>>;
}

/** cmd.exe refuses a longer line, and so does the server. */
export const MAX_COMMAND_LINE = 8190;

const INVOCATION =
  'powershell.exe -NoLogo -NoProfile -NonInteractive -ExecutionPolicy Bypass -OutputFormat Text -EncodedCommand ';

/**
 * Only characters that cmd.exe, PowerShell and bash all leave alone. Throws `TypeError` when the line gets too long.
 */
export function encodedCommand(text: string): string {
  refuseOddText(text, 'a script');
  const line = INVOCATION + Buffer.from(text, 'utf16le').toString('base64');
  if (line.length > MAX_COMMAND_LINE) throw new TypeError(`a command line of ${String(line.length)} characters`);
  return line;
}

/**
 * Arguments of powershell.exe that run a script with a folder and a number: `-EncodedCommand` is not subject to an
 * execution policy that allows only signed files, and `-File` is. Throws `TypeError` for a folder that PowerShell could
 * read otherwise.
 */
export function encodedRunner(script: string, folder: string, seconds: number): string {
  if (!/^[A-Za-z]:(?:\\[A-Za-z0-9][A-Za-z0-9.-]*)+$/.test(folder))
    throw new TypeError(`not a folder of a job: ${folder}`);
  const call = `& {\n${withoutComments(script)}\n} -Folder '${folder}' -Seconds ${String(Math.ceil(seconds))}`;
  return encodedCommand(call).replace(/^powershell\.exe /, '');
}

/** A script without its comment lines: what the bootstrap is before it is encoded. */
export const withoutComments = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .join('\n');

function refuseOddText(text: string, what: string): void {
  if (text.includes('\0')) throw new TypeError(`${what} has a NUL`);
  // A half of a surrogate pair would arrive as another character.
  if (/\p{Surrogate}/u.test(text)) throw new TypeError(`${what} is no well-formed Unicode`);
}

function refuseOddValues(value: PsValue, what: string): void {
  if (typeof value === 'string') refuseOddText(value, what);
  else if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${what} is no number`);
  else if (typeof value === 'object' && value !== null) {
    // ConvertFrom-Json takes no two keys that differ only in case, and none that is empty.
    const keys = Array.isArray(value) ? [] : Object.keys(value).map((key) => key.toLowerCase());
    if (new Set(keys).size < keys.length || keys.includes(''))
      throw new TypeError(`${what} has keys that PowerShell cannot tell apart`);
    for (const [key, one] of Object.entries(value)) {
      refuseOddText(key, `a key of ${what}`);
      refuseOddValues(one, `${what}.${key}`);
    }
  }
}

/**
 * A line for the bootstrap's stdin: pure ASCII, with an end mark. Throws `TypeError` on NUL and half surrogate pairs.
 */
export function encodePayload({ common, script, name, params }: Payload): string {
  refuseOddText(script, name);
  refuseOddText(common, name);
  refuseOddValues(params, name);
  return `${Buffer.from(JSON.stringify({ common, script, name, params })).toString('base64')}.\n`;
}

/** What `encodePayload` was given. */
export const decodePayload = (line: string): Payload =>
  JSON.parse(Buffer.from(line.trim().replace(/\.$/, ''), 'base64').toString('utf8')) as Payload;

/**
 * A command of a script with its parameters bound to its param() block. Those that are secrets stand in no title and no
 * log.
 */
export function psCommand(payload: Payload, secrets: Readonly<Record<string, Secret>> = {}): Command<'powershell'> {
  const { name } = payload;
  const ofSecrets = Object.fromEntries(Object.entries(secrets).map(([key, secret]) => [key, revealed(secret)]));
  const params = { ...payload.params, ...ofSecrets };
  refuseOddValues(params, name);
  let encoded: string | undefined;
  return {
    shell: 'powershell',
    // Encoded for a host that is sent it: every start declares the probes of Windows hosts, and few clusters have some.
    get script() {
      return (encoded ??= encodePayload({ ...payload, params }));
    },
    title: name,
  };
}

/** The text of every result line in a script's stdout. */
export const resultsIn = (stdout: string): readonly string[] =>
  [...stdout.matchAll(/^KBUILD-RESULT:([A-Za-z0-9+/=]+)\r?$/gm)].map(([, encoded]) =>
    Buffer.from(encoded!, 'base64').toString('utf8'),
  );

/** True when the bootstrap had its payload whole. */
export const hasBegun = (stdout: string): boolean => /^KBUILD-BEGUN\r?$/m.test(stdout);

/** PowerShell's error stream as people read it: without the XML that it becomes on a pipe, without carriage returns. */
export function readableErrors(stderr: string): string {
  const text = stderr.replaceAll(/#< CLIXML\r?\n?|<Objs [\s\S]*?<\/Objs>/g, (part) =>
    [...part.matchAll(/<S S="(?:Error|Warning)">([\s\S]*?)<\/S>/g)].map(([, words]) => unescapedXml(words!)).join(''),
  );
  return text
    .replaceAll('\r', '')
    .replaceAll(/^KBUILD-(?:ERROR|AT|ID|STACK): /gm, (mark) => (mark === 'KBUILD-ERROR: ' ? '' : `  ${mark.slice(7)}`))
    .replaceAll(/\n{2,}/g, '\n');
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

const unescapedXml = (text: string): string =>
  text
    .replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/&(lt|gt|amp|quot|apos);/g, (_, name: string) => ENTITIES[name]!);
