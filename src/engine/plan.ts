import type { Fleet } from '../cluster/fleet/fleet.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { ask, places } from './phases.ts';
import type { Change, Phase } from './step.ts';

/** A pending change and its place. */
export interface PlannedChange {
  readonly phase: string;
  readonly host: string;
  readonly step: string;
  readonly summary: string;
  readonly change: Change;
}

/** What would change, and what is unknown. */
export interface Plan {
  /** In the order of the phases. A change without `apply` is only waited for. */
  readonly changes: readonly PlannedChange[];
  /** A fact that a step needs could not be read, or a step refuses; `up` does not start. */
  readonly errors: readonly { readonly host: string; readonly step: string; readonly error: Error }[];
}

/** The pending changes of every step of every phase. Pure. Hosts that were not observed are left out. */
export function plan(phases: readonly Phase[], inventory: Inventory, fleet: Fleet): Plan {
  const changes: PlannedChange[] = [];
  const errors: { host: string; step: string; error: Error }[] = [];
  for (const phase of phases) {
    for (const host of places(phase, fleet)) {
      for (const step of phase.steps) {
        try {
          const due = ask(phase, step, host, inventory)(fleet);
          if (due === 'not observed') continue;
          for (const change of due) {
            changes.push({ phase: phase.name, host: host.name, step: step.name, summary: change.summary, change });
          }
        } catch (error) {
          if (!(error instanceof Error)) throw error;
          errors.push({ host: host.name, step: step.name, error });
        }
      }
    }
  }
  return { changes, errors };
}

/** True for a change that is only waited for. */
export const isWait = ({ apply, foreseen }: Change): boolean => apply === undefined && foreseen === undefined;

/** What is applied, or foreseen; the rest of a plan is only waited for. */
export const changesIn = (planned: readonly PlannedChange[]): readonly PlannedChange[] =>
  planned.filter(({ change }) => !isWait(change));

/** What is only waited for. */
export const waitsIn = (planned: readonly PlannedChange[]): readonly PlannedChange[] =>
  planned.filter(({ change }) => isWait(change));

/** Identity of a change: where, not what, so that a summary may become more exact. */
export const changeId = ({ phase, host, step }: Pick<PlannedChange, 'phase' | 'host' | 'step'>): string =>
  `${phase}/${host}/${step}`;
