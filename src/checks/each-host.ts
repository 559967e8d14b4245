import { FactError } from '../errors.ts';
import { observedLinux, type Fleet, type Kinds } from '../facts/fleet.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { Check, CheckPage, Finding } from './check.ts';
import { unknown } from './run-checks.ts';

/** One Linux host as a check sees it. */
export type HostSeen = Kinds['linux'] & { readonly inventory: Inventory; readonly fleet: Fleet };

/** What is wrong with the host that was looked at. */
export type HostFinding = Omit<Finding, 'host'>;

/** A check of every Linux host for itself: a fact that is unknown on one does not hide what is wrong with the others. */
export const eachHost = (page: CheckPage, test: (seen: HostSeen) => readonly HostFinding[]): Check => ({
  ...page,
  test: ({ inventory, fleet }) =>
    observedLinux(fleet).flatMap(({ host, facts }): readonly Finding[] => {
      try {
        return test({ inventory, fleet, host, facts }).map((finding) => ({ ...finding, host: host.name }));
      } catch (error) {
        if (error instanceof FactError) return [unknown(error)];
        throw error;
      }
    }),
});
