import type { Firewall } from '../facts/linux/firewall-rules.ts';
import type { Opening } from '../topology/openings.ts';

/** What kbuild wants open in a firewall, and which of its own rules it found there. */
export interface Difference {
  readonly firewall: Firewall;
  readonly wanted: readonly Opening[];
  readonly found: readonly Opening[];
}

const key = ({ hook, protocol, ports, from, to }: Opening): string => [hook, protocol, ...ports, from, to].join(' ');

/** The openings that `others` do not have. */
export function onlyIn(these: readonly Opening[], others: readonly Opening[]): readonly Opening[] {
  const known = new Set(others.map(key));
  return these.filter((opening) => !known.has(key(opening)));
}

/** Openings that differ only in their ports, with all ports in order. */
interface Group extends Pick<Opening, 'hook' | 'protocol' | 'from' | 'to'> {
  readonly ports: readonly number[];
}

/** The openings in as few groups as possible. */
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
