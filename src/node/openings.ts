import type { Firewall } from '../facts/linux/firewall-rules.ts';
import type { Opening } from '../topology/openings.ts';

/** What kbuild wants of a firewall beside everybody else's rules, and what it has there. */
export interface Difference {
  readonly firewall: Firewall;
  readonly wanted: readonly Opening[];
  readonly found: readonly Opening[];
}

const key = ({ hook, protocol, ports, from, to }: Opening): string => [hook, protocol, ...ports, from, to].join(' ');

/** Those of the openings that the others do not have. */
export function onlyIn(these: readonly Opening[], others: readonly Opening[]): readonly Opening[] {
  const known = new Set(others.map(key));
  return these.filter((one) => !known.has(key(one)));
}

/** Openings of one way and protocol, with all their ports in order. */
export interface Group extends Pick<Opening, 'hook' | 'protocol' | 'from' | 'to'> {
  readonly ports: readonly number[];
}

/** Openings as few rules as they can be. */
export function grouped(all: readonly Opening[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const { hook, protocol, from, to, ports } of all) {
    const name = [hook, protocol, from, to].join(' ');
    const known = groups.get(name)?.ports ?? [];
    const sorted = [...new Set([...known, ports[0]])].toSorted((a, b) => a - b);
    groups.set(name, { hook, protocol, from, to, ports: sorted });
  }
  return [...groups.values()];
}
