import { FactError } from '../errors.ts';
import { observedLinux, type Fleet, type Kinds } from '../facts/fleet.ts';
import type { Finding } from './check.ts';
import { unknown } from './run-checks.ts';

/** Hosts that have a value in common, with it. */
export interface Shared {
  readonly value: string;
  readonly hosts: readonly Kinds['linux'][];
}

const NAMED = 10;

/** Names of the others of a group, as a list; of a large one the first. */
export function othersOf(hosts: readonly Kinds['linux'][], name: string): string {
  const first: string[] = [];
  for (const { host } of hosts) {
    if (first.length === NAMED) break;
    if (host.name !== name) first.push(host.name);
  }
  const more = hosts.length - 1 - first.length;
  return `${first.join(', ')}${more === 0 ? '' : ` and ${String(more)} more`}`;
}

/** Groups of two and more hosts that have one of the values that `read` gives in common. */
export function sharedValues(
  fleet: Fleet,
  read: (facts: Kinds['linux']['facts']) => readonly string[],
): { readonly shared: readonly Shared[]; readonly unknown: readonly Finding[] } {
  const groups = new Map<string, Kinds['linux'][]>();
  const unknowns: Finding[] = [];
  for (const one of observedLinux(fleet)) {
    try {
      for (const value of read(one.facts)) {
        const group = groups.get(value);
        if (group === undefined) groups.set(value, [one]);
        else group.push(one);
      }
    } catch (error) {
      if (!(error instanceof FactError)) throw error;
      unknowns.push(unknown(error));
    }
  }
  const shared = [...groups].flatMap(([value, hosts]) => (hosts.length > 1 ? [{ value, hosts }] : []));
  return { shared, unknown: unknowns };
}
