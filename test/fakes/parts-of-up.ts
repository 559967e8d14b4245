import { up } from '../../src/commands/up.phases.ts';
import type { Phase } from '../../src/engine/step.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';

/** The phases of `up` from one to another, both included. @throws Error if `up` does not have them */
function between(inventory: Inventory, first: string, last: string): readonly Phase[] {
  const phases = up(inventory);
  const [from, to] = [first, last].map((wanted) => phases.findIndex(({ name }) => name === wanted)) as [number, number];
  if (from === -1 || to < from) throw new Error(`up has no phases from ${first} to ${last}`);
  return phases.slice(from, to + 1);
}

/** Those that prepare hosts for kubeadm. */
export const preparePhases = (inventory: Inventory): readonly Phase[] => between(inventory, 'prepare', 'images');

/** Those that apply settings of joined nodes. */
export const nodePhases = (inventory: Inventory): readonly Phase[] => between(inventory, 'etcd-endpoints', 'objects');

/** The one that changes the runtime of joined hosts. */
export const runtimePhases = (inventory: Inventory): readonly Phase[] =>
  between(inventory, 'runtime-version', 'runtime-version');
