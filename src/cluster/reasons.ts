import type { Refused } from '../errors.ts';
import type { RefusalName } from '../refusals/refusals.ts';

/** A reason for which a command does not start: pure, as a check. Its title and text are the pages of its names. */
export interface Reason<In> {
  /** The names of the refusals that it gives. */
  readonly names: readonly RefusalName[];
  readonly test: (seen: In) => readonly Refused[];
}

/** A reason that gives refusals of these names and no others: the compiler compares. */
export const reason = <In, const N extends RefusalName>(
  names: readonly N[],
  test: (seen: In) => readonly Refused<NoInfer<N>>[],
): Reason<In> => ({ names, test });

/** What the reasons refuse, in their order. */
export const refusedFor = <In>(reasons: readonly Reason<In>[], seen: In): readonly Refused[] =>
  reasons.flatMap(({ test }) => test(seen));
