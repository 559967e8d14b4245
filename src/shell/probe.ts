import type { Command, Shell } from './command.ts';

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

/** The last line of a text; empty if the text is blank. */
export const lastLine = (text: string): string => text.trim().split('\n').at(-1)!.trim();

/** Parses an output that is one of these words. Throws on any other. */
export const wordOf =
  <W extends string>(...words: readonly W[]) =>
  (out: string): W => {
    const word = words.find((known) => known === out.trim());
    if (word === undefined) throw new Error(`unexpected output: ${out.trim()}`);
    return word;
  };

/** The non-empty lines of a text. */
export const lines = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');
