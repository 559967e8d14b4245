import type { Fleet } from '../facts/fleet.ts';
import type { Watches } from '../facts/watched.ts';
import type { CheckName } from '../inventory/check-names.ts';
import type { Inventory } from '../model/inventory.ts';

/** `unknown`: the check lacks a fact, which stops `up` like an error. `due`: `up` will mend it. */
export type Severity = 'error' | 'warning' | 'unknown' | 'due';

/** A finding of a check about one host, or about the whole fleet if `host` is missing. */
export interface Finding {
  readonly severity: Severity;
  readonly host?: string;
  /** What was found and what is needed. */
  readonly message: string;
  readonly remedy?: string;
}

/** A finding with the name of its check, which is what `--ignore-check` takes. */
export interface CheckedFinding extends Finding {
  readonly check: CheckName;
  /** Where it is explained. */
  readonly page: string;
  /** The inventory or `--ignore-check` names its check. */
  readonly ignored?: true;
}

/** A check in docs/checks.md. */
export interface CheckPage {
  /** Stable: `--ignore-check` and `ignoreChecks:` take it. */
  readonly name: CheckName;
  /** What is true if the check finds nothing, in one line. */
  readonly title: string;
  /** What goes wrong otherwise, and how to mend it. Markdown. */
  readonly why: string;
  /** What its findings can be, besides `unknown`. */
  readonly severities: readonly Exclude<Severity, 'unknown'>[];
  /** Names on hosts that it reads although no step watches them. */
  readonly watches?: Watches;
}

/** A named reason not to start: pure, sees inventory and fleet. A `FactError` that it throws becomes a finding `unknown`. */
export interface Check extends CheckPage {
  readonly test: (seen: { readonly inventory: Inventory; readonly fleet: Fleet }) => readonly Finding[];
}
