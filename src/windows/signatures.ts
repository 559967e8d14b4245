import type { Target } from '../engine/step.ts';
import { FactError } from '../errors.ts';
import type { Fleet } from '../facts/fleet.ts';
import type { Inventory } from '../model/inventory.ts';
import { flannel } from './signatures/flannel.ts';
import { limitations } from './signatures/limitations.ts';
import { network } from './signatures/network.ts';
import { node } from './signatures/node.ts';
import type { WindowsSignature } from './signatures/signature.ts';

/** What goes wrong with Windows workers, or looks like it: for failure reports, `kbuild status` and docs alike. */
export const windowsSignatures: readonly WindowsSignature[] = [...node, ...network, ...flannel, ...limitations];

/** One of them on one host. */
export interface Recognised {
  readonly host: string;
  readonly signature: WindowsSignature;
  /** What was found there. */
  readonly found: string;
}

/** Those that the facts of a host show; what needs a fact that could not be read is left out. */
export const recognised = (target: Target<'windows'>): readonly Recognised[] =>
  windowsSignatures.flatMap((signature) => {
    const found = seen(signature, target);
    return found === undefined ? [] : [{ host: target.host.name, signature, found }];
  });

function seen({ inFacts }: WindowsSignature, target: Target<'windows'>): string | undefined {
  try {
    return inFacts?.(target);
  } catch (error) {
    if (error instanceof FactError) return undefined;
    throw error;
  }
}

/** Trouble of all Windows hosts of a fleet. */
export const troubleOf = (inventory: Inventory, fleet: Fleet): readonly Recognised[] =>
  fleet.hosts.flatMap((observed) =>
    observed.os === 'windows' ? recognised({ inventory, host: observed.host, facts: observed.facts, fleet }) : [],
  );
