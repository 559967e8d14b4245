import { FactError } from '../errors.ts';
import { observedLinux, observedWindows, type Fleet, type Kinds, type Observed } from '../facts/fleet.ts';
import { inventoryOn } from '../model/inventory-on.ts';
import type { Host, Inventory } from '../model/inventory.ts';
import type { Check, CheckPage, Finding } from './check.ts';
import { unknown } from './run-checks.ts';

/** One Linux host as a check sees it. */
export type HostSeen = Kinds['linux'] & { readonly inventory: Inventory; readonly fleet: Fleet };

/** A finding about the host that is checked. */
export type HostFinding = Omit<Finding, 'host'>;

/** Checks hosts one by one: a fact that is unknown on one host hides no finding about another. */
const oneByOne =
  <H extends { readonly host: Host }>(hosts: (fleet: Fleet) => readonly H[]) =>
  (
    page: CheckPage,
    test: (seen: H & { readonly inventory: Inventory; readonly fleet: Fleet }) => readonly HostFinding[],
  ): Check => ({
    ...page,
    test: ({ inventory, fleet }) =>
      hosts(fleet).flatMap((seen): readonly Finding[] => {
        const { name } = seen.host;
        try {
          return test({ ...seen, inventory: inventoryOn(inventory, seen.host), fleet }).map((finding) => ({
            ...finding,
            host: name,
          }));
        } catch (error) {
          if (error instanceof FactError) return [unknown(error)];
          throw error;
        }
      }),
  });

/** A check of every Linux host for itself. */
export const eachHost = oneByOne<Kinds['linux']>(observedLinux);

/** A check of every Windows host for itself. */
export const eachWindowsHost = oneByOne<Kinds['windows']>(observedWindows);

/** A check of every host for itself, about what Linux and Windows have in common. */
export const eachHostOfAny = oneByOne<Observed>(({ hosts }) => hosts);
