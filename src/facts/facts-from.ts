import { FactError } from '../errors.ts';
import type { Asked, Probe } from '../shell/probe.ts';
import { excerpt } from '../shell/text.ts';

/** The facts that a table of probes yields. */
export type FactsOf<P> = {
  // By `parse` alone: the command is invariant in its shell, so no `Probe<T, Shell>` is a supertype of them all.
  readonly [K in keyof P]: P[K] extends { readonly parse: (stdout: string, asked: Asked) => infer T } ? T : never;
};

/** The result of one probe: its output, or why there is none. */
export type Answer = { readonly stdout: string } | { readonly failed: string };

/** Characters that one probe of a host may answer. The lists of the largest hosts take a tenth of it. */
const MOST_CHARACTERS = 1024 * 1024;

/** The same of a probe that prints lists of the whole cluster: what the transport takes at most. */
export const MOST_OF_CLUSTER = 64 * 1024 * 1024;

/** Characters of a reason that a fact could not be read: a few lines of a program's errors. */
const MOST_OF_REASON = 600;

/**
 * Facts of a host. Reading a fact whose probe failed, timed out or could not be parsed throws `FactError`: unknown is never
 * absent. `most`: characters that a probe may answer; a longer answer is none.
 */
export function factsFrom<P extends Readonly<Record<string, Pick<Probe<unknown>, 'parse'>>>>(
  host: string,
  probes: P,
  answers: Readonly<Record<string, Answer>>,
  asked: Asked,
  most: number = MOST_CHARACTERS,
): FactsOf<P> {
  const facts = {};
  for (const [name, { parse }] of Object.entries(probes)) {
    const answer = answers[name] ?? { failed: 'the host sent no answer' };
    let read: () => unknown;
    if ('failed' in answer) {
      read = () => {
        throw new FactError(host, name, excerpt(answer.failed, MOST_OF_REASON));
      };
    } else {
      const { stdout } = answer;
      let parsed: { readonly value: unknown } | undefined;
      // Parsed at the first read: most runs read a part of the facts.
      read = () => {
        try {
          if (stdout.length > most)
            throw new Error(`its answer has ${String(stdout.length)} characters, and at most ${String(most)} are read`);
          if (stdout.includes('\0')) throw new Error('its answer has a NUL character, which no text of a host has');
          parsed ??= { value: parse(stdout, asked) };
          return parsed.value;
        } catch (error) {
          throw new FactError(
            host,
            name,
            excerpt(error instanceof Error ? error.message : String(error), MOST_OF_REASON),
          );
        }
      };
    }
    Object.defineProperty(facts, name, { get: read, enumerable: true, configurable: true });
  }
  return facts as FactsOf<P>;
}
