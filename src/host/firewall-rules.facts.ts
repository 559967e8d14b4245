import type { Opening } from './openings.value.ts';

/** An opening that a firewall has. */
export interface Allowed extends Opening {
  /** True when kbuild made it. */
  readonly ours: boolean;
}

/** A firewall, or a chain of one, that drops what it does not know. */
export interface Firewall {
  readonly kind: 'ufw' | 'firewalld' | 'nftables';
  /** Packets to the host, or packets through it. */
  readonly hook: Opening['hook'];
  /** Where the rules are: the zones, or a chain as `family table chain`. */
  readonly place: string;
  readonly allowed: readonly Allowed[];
  /** True if there are rules that kbuild cannot parse: the firewall may let in more than `allowed`. */
  readonly obscure: boolean;
}

/** What kbuild's own rules are called: their comment, or how the name of their policy begins. */
export const OUR_NAME = 'kbuild';

/** `6443`, `2379-2380` or `2379:2380`. */
export function portRange(text: string): Opening['ports'] {
  const [first, last] = text.split(/[:-]/).map(Number);
  return [first!, last ?? first!];
}
