import type { Command, Shell } from './command.ts';
import { excerpt } from './text.ts';

/** When kbuild observed a host, by the clock of the machine that kbuild runs on. */
export interface Asked {
  /** The middle of the time in which the host may have read its clock, in milliseconds since the epoch. */
  readonly middleMs: number;
  /** How long the login before it took; missing if that is not known. */
  readonly loginMs?: number | undefined;
}

/** One fact: the command that reads it and the pure parser of its output. Absence is a value of `T`. */
export interface Probe<T, S extends Shell = 'sh'> {
  readonly command: Command<S>;
  /** Throws on output that it does not understand; reading the fact then throws `FactError`. */
  readonly parse: (stdout: string, asked: Asked) => T;
}

/** Remembers the last text and its value: hosts of a fleet answer many probes alike, and values are immutable. */
function onceForSameText<T>(parse: (stdout: string, asked: Asked) => T): Probe<T>['parse'] {
  // A parser of two parameters reads when the host was asked.
  if (parse.length > 1) return parse;
  let last: { readonly text: string; readonly value: T } | undefined;
  return (stdout, asked) => {
    if (last?.text !== stdout) last = { text: stdout, value: parse(stdout, asked) };
    return last.value;
  };
}

/** A probe of a Linux host. `parse`: with both parameters declared, or with the output alone. */
export const probe = <T>(command: Command<'sh'>, parse: (stdout: string, asked: Asked) => T): Probe<T> => ({
  command,
  parse: onceForSameText(parse),
});

/** A probe of a Linux host that runs in the one shell of all probes (see `Command.inPlace`). */
export const probeInPlace = <T>(command: Command<'sh'>, parse: (stdout: string, asked: Asked) => T): Probe<T> =>
  probe({ ...command, inPlace: true }, parse);

/** The last line of a text; empty if the text is blank. */
export const lastLine = (text: string): string => text.trim().split('\n').at(-1)!.trim();

/** The error of a parser that does not understand a text of a host: the beginning of the text, in one line. */
export const unexpected = (text: string): Error => new Error(`unexpected output: ${excerpt(text)}`);

/** Parses an output that is one of these words. Throws on any other. */
export const wordOf =
  <W extends string>(...words: readonly W[]) =>
  (out: string | undefined): W => {
    const word = words.find((known) => known === out?.trim());
    if (word === undefined) throw unexpected(out ?? '');
    return word;
  };

/** The longest name, identifier or version of a host, in characters. */
const LONGEST_LINE = 256;

/** Parses an output that is one line of at most 256 characters. Throws on any other. */
export function lineOf(out: string): string {
  const line = out.trim();
  if (line.length > LONGEST_LINE || line.includes('\n')) throw unexpected(line);
  return line;
}

/**
 * Parses a decimal number. Throws on any other text: NaN would be neither more nor less than what a check compares it
 * with.
 */
export function numberOf(text: string | undefined, what = 'number'): number {
  const number = text?.trim() ?? '';
  if (!/^-?\d{1,20}(?:\.\d{1,20})?$/.test(number)) throw new Error(`not a ${what}: ${excerpt(number)}`);
  return Number(number);
}

/**
 * Parses what `date +%s%N` prints, to ms since the epoch. Throws on any other text. Not `%3N`, which uutils (Ubuntu
 * 26.04) did not have at first.
 */
export function clockOf(text: string): number {
  const [ms] = /^\d{13}(?=(?:\d{6})?$)/.exec(text.trim()) ?? [];
  if (ms === undefined) throw new Error(`not a time: ${excerpt(text)}`);
  return Number(ms);
}

/** Parses a time of the API or of a certificate, to ms since the epoch. Throws on any other text. */
export function timeOf(text: string | undefined): number {
  const ms = Date.parse(text ?? '');
  if (Number.isNaN(ms)) throw new Error(`not a time: ${excerpt(text ?? '')}`);
  return ms;
}

/** The non-empty lines of a text. */
export const lines = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');
