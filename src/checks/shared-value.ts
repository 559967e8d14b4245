import { FactError } from '../errors.ts';
import { observedLinux, type Fleet, type Kinds } from '../facts/fleet.ts';
import type { Finding } from './check.ts';
import { unknown } from './run-checks.ts';

/** Hosts that have a value in common, with it. */
export interface Shared {
  readonly value: string;
  readonly hosts: readonly Kinds['linux'][];
}

/** Groups of two and more hosts for which `read` gives the same value; undefined values are no values. */
export function sharedValues(
  fleet: Fleet,
  read: (facts: Kinds['linux']['facts']) => string | undefined,
): { readonly shared: readonly Shared[]; readonly unknown: readonly Finding[] } {
  const groups = new Map<string, Kinds['linux'][]>();
  const unknowns: Finding[] = [];
  for (const one of observedLinux(fleet)) {
    try {
      const value = read(one.facts);
      if (value !== undefined) groups.set(value, [...(groups.get(value) ?? []), one]);
    } catch (error) {
      if (!(error instanceof FactError)) throw error;
      unknowns.push(unknown(error));
    }
  }
  const shared = [...groups].flatMap(([value, hosts]) => (hosts.length > 1 ? [{ value, hosts }] : []));
  return { shared, unknown: unknowns };
}
