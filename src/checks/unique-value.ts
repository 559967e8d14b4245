import { FactError } from '../errors.ts';
import { observedLinux, type Fleet, type Kinds } from '../facts/fleet.ts';
import type { Inventory } from '../model/inventory.ts';
import type { Check, CheckPage, Finding } from './check.ts';
import { unknown } from './run-checks.ts';

type LinuxFacts = Kinds['linux']['facts'];

/** Hosts that have a value in common. */
export interface Shared {
  readonly value: string;
  readonly hosts: readonly Kinds['linux'][];
}

/** The texts of a finding about a host that has a value in common with `others`. */
interface SharedWords {
  readonly message: (value: string, others: string) => string;
  readonly remedy: string;
  /** Default `error`. */
  readonly severity?: (hosts: Shared['hosts']) => 'error' | 'due';
}

/** How many other hosts a finding names. */
const NAMED = 10;

function othersOf(hosts: Shared['hosts'], name: string): string {
  // Stops early: all hosts of a large fleet may share a value, and each lists the others.
  const first: string[] = [];
  for (const { host } of hosts) {
    if (first.length === NAMED) break;
    if (host.name !== name) first.push(host.name);
  }
  const more = hosts.length - 1 - first.length;
  return `${first.join(', ')}${more === 0 ? '' : ` and ${String(more)} more`}`;
}

/** Groups of two and more hosts that share one of the values of `read`, and a finding for each host whose fact is unknown. */
export function sharedValues(
  fleet: Fleet,
  read: (facts: LinuxFacts) => readonly string[],
): { readonly shared: readonly Shared[]; readonly unknown: readonly Finding[] } {
  const groups = new Map<string, Kinds['linux'][]>();
  const unknowns: Finding[] = [];
  for (const observed of observedLinux(fleet)) {
    try {
      for (const value of new Set(read(observed.facts))) {
        const group = groups.get(value);
        if (group === undefined) groups.set(value, [observed]);
        else group.push(observed);
      }
    } catch (error) {
      if (!(error instanceof FactError)) throw error;
      unknowns.push(unknown(error));
    }
  }
  const shared = [...groups].flatMap(([value, hosts]) => (hosts.length > 1 ? [{ value, hosts }] : []));
  return { shared, unknown: unknowns };
}

/** A finding for each of the hosts that share a value. */
export const findingsOf = (
  { value, hosts }: Shared,
  { message, remedy, severity = () => 'error' }: SharedWords,
): readonly Finding[] =>
  hosts.map(({ host }) => ({
    severity: severity(hosts),
    host: host.name,
    message: message(value, othersOf(hosts, host.name)),
    remedy,
  }));

/** A check that no two Linux hosts have one of the values of `read` in common. */
export const uniqueValue = (
  page: CheckPage,
  read: (facts: LinuxFacts, inventory: Inventory) => readonly string[],
  words: SharedWords,
): Check => ({
  ...page,
  test: ({ inventory, fleet }) => {
    const { shared, unknown } = sharedValues(fleet, (facts) => read(facts, inventory));
    return [...unknown, ...shared.flatMap((group) => findingsOf(group, words))];
  },
});
