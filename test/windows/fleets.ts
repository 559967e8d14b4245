/** Simulated fleets of the test that runs, closed when it ends. */
import { afterEach } from 'vitest';
import { up as everyPhase } from '../../src/commands/up.phases.ts';
import type { Phase } from '../../src/engine/step.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import { simulatedFleet, type SimulatedFleet, type SimulatedOptions } from './simulated-fleet.ts';

const fleets: SimulatedFleet[] = [];

afterEach(async () => {
  // Broken rules of Windows or of the protocol fail the test here.
  await Promise.all(fleets.splice(0).map((fleet) => fleet.close()));
});

/** A fleet that is closed with the test. */
export async function started(options: SimulatedOptions = {}): Promise<SimulatedFleet> {
  const fleet = await simulatedFleet(options);
  fleets.push(fleet);
  return fleet;
}

/** The phases of `up` on Windows hosts. */
export const up = (inventory: Inventory): readonly Phase[] =>
  everyPhase(inventory).filter(({ kind }) => kind === 'windows');
