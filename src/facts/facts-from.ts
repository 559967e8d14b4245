import { FactError } from '../errors.ts';
import type { Asked, Probe } from '../shell/probe.ts';

/** The facts that a table of probes yields. */
export type FactsOf<P> = {
  // By `parse` alone: the command is invariant in its shell, so no `Probe<T, Shell>` is a supertype of them all.
  readonly [K in keyof P]: P[K] extends { readonly parse: (stdout: string, asked: Asked) => infer T } ? T : never;
};

/** The result of one probe: its output, or why there is none. */
export type Answer = { readonly stdout: string } | { readonly failed: string };

/**
 * Facts of a host. Reading a fact whose probe failed, timed out or could not be parsed throws `FactError`: unknown is never
 * absent.
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
      // Parsed at the first read: most runs read a part of the facts.
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
