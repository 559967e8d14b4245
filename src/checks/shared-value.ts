import { FactError } from '../errors.ts';
import { observedLinux, type Fleet, type Kinds } from '../facts/fleet.ts';
import type { Finding } from './check.ts';
import { unknown } from './run-checks.ts';

/** Hosts that have a value in common, with it. */
export interface Shared {
  readonly value: string;
  readonly hosts: readonly Kinds['linux'][];
}

/** Names of the others of a group, as a list. */
export const othersOf = (hosts: readonly Kinds['linux'][], name: string): string =>
  hosts.flatMap(({ host }) => (host.name === name ? [] : [host.name])).join(', ');

/** Groups of two and more hosts that have one of the values that `read` gives in common. */
export function sharedValues(
  fleet: Fleet,
  read: (facts: Kinds['linux']['facts']) => readonly string[],
): { readonly shared: readonly Shared[]; readonly unknown: readonly Finding[] } {
  const groups = new Map<string, Kinds['linux'][]>();
  const unknowns: Finding[] = [];
  for (const one of observedLinux(fleet)) {
    try {
      for (const value of read(one.facts)) groups.set(value, [...(groups.get(value) ?? []), one]);
    } catch (error) {
      if (!(error instanceof FactError)) throw error;
      unknowns.push(unknown(error));
    }
  }
  const shared = [...groups].flatMap(([value, hosts]) => (hosts.length > 1 ? [{ value, hosts }] : []));
  return { shared, unknown: unknowns };
}
