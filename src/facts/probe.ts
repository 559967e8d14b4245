import { FactError } from '../errors.ts';
import type { Command, Shell } from '../shell/command.ts';

/** When a host was asked, by the clock of this machine. */
export interface Asked {
  /** The middle of the request, in milliseconds since the epoch. */
  readonly middleMs: number;
  /** How long the login took before; missing where that is not known. */
  readonly loginMs?: number | undefined;
}

/** One fact: the command that reads it and the pure parser of its output. Absence is a value of `T`. */
export interface Probe<T, S extends Shell = 'sh'> {
  readonly command: Command<S>;
  /** Throws on output it does not understand; that becomes a `FactError` of whoever reads the fact. */
  readonly parse: (stdout: string, asked: Asked) => T;
}

/** A probe of a Linux host. */
export const probe = <T>(command: Command<'sh'>, parse: (stdout: string, asked: Asked) => T): Probe<T> => ({
  command,
  parse,
});

/** The non-empty lines of a text. */
export const lines = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');

/** The facts that a table of probes yields. */
export type FactsOf<P> = {
  // By `parse` alone: the command is invariant in its shell, so no `Probe<T, Shell>` is a supertype of them all.
  readonly [K in keyof P]: P[K] extends { readonly parse: (stdout: string, asked: Asked) => infer T } ? T : never;
};

/** What came back for one probe: its output, or why there is none. */
export type Answer = { readonly stdout: string } | { readonly failed: string };

/**
 * Facts of a host. Reading one whose probe failed, timed out or could not be parsed throws `FactError`:
 * unknown is never absent.
 */
export function factsFrom<P extends Readonly<Record<string, Pick<Probe<unknown>, 'parse'>>>>(
  host: string,
  probes: P,
  answers: Readonly<Record<string, Answer>>,
  asked: Asked,
): FactsOf<P> {
  const facts = {};
  for (const [name, { parse }] of Object.entries(probes)) {
    const answer = answers[name] ?? { failed: 'the host sent no answer' };
    let read: () => unknown;
    if ('failed' in answer) {
      read = () => {
        throw new FactError(host, name, answer.failed);
      };
    } else {
      const { stdout } = answer;
      let parsed: { readonly value: unknown } | undefined;
      // Parsed when somebody asks: most runs read a part of the facts.
      read = () => {
        try {
          parsed ??= { value: parse(stdout, asked) };
          return parsed.value;
        } catch (error) {
          throw new FactError(host, name, error instanceof Error ? error.message : String(error));
        }
      };
    }
    Object.defineProperty(facts, name, { get: read, enumerable: true, configurable: true });
  }
  return facts as FactsOf<P>;
}
