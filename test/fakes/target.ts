import { linuxFacts } from '../../src/cluster/fleet/fleet.ts';
import type { Target } from '../../src/engine/step.ts';
import { linuxHosts } from '../../src/inventory/hosts.ts';
import type { FactOverrides } from './facts.ts';
import { fleet, type FleetOverrides } from './fleet.ts';
import { inventory as anInventory } from './inventory.ts';

/** What a test says beside the facts of its host. */
export interface About extends FleetOverrides {
  /** Name of the host; default: the inventory's first. */
  readonly host?: string;
}

/** One host of a fleet, fresh but for the named facts: `target({ swaps: ['/dev/sda2'] })`. */
export function target(overrides: FactOverrides = {}, about: About = {}): Target {
  const inventory = about.inventory ?? anInventory();
  const host = linuxHosts(inventory).find(({ name }) => about.host === undefined || name === about.host);
  if (host === undefined) throw new Error(`the inventory has no Linux host ${about.host ?? ''}`);
  const seen = fleet({ ...about, inventory, facts: { ...about.facts, [host.name]: overrides } });
  return { inventory, host, fleet: seen, facts: linuxFacts(seen, host)! };
}
