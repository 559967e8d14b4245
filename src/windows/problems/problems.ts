import type { Fleet } from '../../cluster/fleet/fleet.ts';
import type { Target } from '../../engine/step.ts';
import { FactError } from '../../errors.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { flannel, limitations, node } from './known.ts';
import { network, type WindowsSignature } from './problem.ts';

/** Known problems and limitations of Windows workers, for failure reports, `kbuild status` and the docs. */
export const windowsSignatures: readonly WindowsSignature[] = [...node, ...network, ...flannel, ...limitations];

/** A signature that matches one host. */
interface Recognised {
  readonly host: string;
  readonly signature: WindowsSignature;
  /** What was observed there. */
  readonly found: string;
}

/** The signatures that match the facts of a host. Skips a signature if one of its facts could not be observed. */
export const recognised = (target: Target<'windows'>): readonly Recognised[] =>
  windowsSignatures.flatMap((signature) => {
    const found = matchIn(signature, target);
    return found === undefined ? [] : [{ host: target.host.name, signature, found }];
  });

function matchIn({ inFacts }: WindowsSignature, target: Target<'windows'>): string | undefined {
  try {
    return inFacts?.(target);
  } catch (error) {
    if (error instanceof FactError) return undefined;
    throw error;
  }
}

/** The signatures that match Windows hosts of the fleet. */
export const troubleOf = (inventory: Inventory, fleet: Fleet): readonly Recognised[] =>
  fleet.hosts.flatMap((observed) =>
    observed.os === 'windows' ? recognised({ inventory, host: observed.host, facts: observed.facts, fleet }) : [],
  );
