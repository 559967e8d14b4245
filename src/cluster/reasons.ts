import type { Refused } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { RefusalName } from '../refusals/refusals.ts';
import type { Fleet } from './fleet/fleet.ts';

/** What every command has observed before it begins. */
export interface Seen {
  readonly inventory: Inventory;
  readonly fleet: Fleet;
}

/** The refusals that a test returns: one, several or none. */
type Outcome<N extends RefusalName> = Refused<N> | readonly Refused<N>[] | false | undefined;

/** A reason for which a command does not start: pure, as a check. Its title and text are the pages of its names. */
export interface Reason<In> {
  /** The names of the refusals that it gives. */
  readonly names: readonly RefusalName[];
  /** @throws FactError when a fact that it needs is unknown */
  readonly test: (seen: In) => Outcome<RefusalName>;
  /** Where it refuses, the reasons after it are not asked. */
  readonly isLast?: true;
}

/** A reason that gives refusals of these names and no others: the compiler compares. */
export const reason = <In, const N extends RefusalName>(
  names: readonly N[],
  test: (seen: In) => Outcome<NoInfer<N>>,
): Reason<In> => ({ names, test });

/** A reason after which no other one is of use. */
export const lastReason = <In, const N extends RefusalName>(...of: Parameters<typeof reason<In, N>>): Reason<In> => ({
  ...reason(...of),
  isLast: true,
});

/** What the reasons refuse, in their order. Throws `FactError` when a fact that they need is unknown. */
export function refusedFor<In>(reasons: readonly Reason<In>[], seen: In): readonly Refused[] {
  const all: Refused[] = [];
  for (const { test, isLast } of reasons) {
    const refused = [test(seen) || []].flat();
    all.push(...refused);
    if (isLast === true && refused.length > 0) break;
  }
  return all;
}
