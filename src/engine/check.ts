import { type Fleet, type Kinds, type Observed, observedLinux, observedWindows } from '../cluster/fleet/fleet.ts';
import { FactError } from '../errors.ts';
import { inventoryOn } from '../inventory/hosts.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import type { Watches } from '../shell/watched.ts';
import { docsPage } from '../versions.ts';

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
  readonly check: string;
  /** Where it is explained. */
  readonly page: string;
  /** The inventory or `--ignore-check` names its check. */
  readonly ignored?: true;
}

/** A check in docs/checks.md. */
export interface CheckPage {
  /** Stable: `--ignore-check` and `ignoreChecks:` take it. */
  readonly name: string;
  /** What is true if the check finds nothing, in one line. */
  readonly title: string;
  /** What goes wrong otherwise, and how to mend it. Markdown. */
  readonly why: string;
  /** What its findings can be, besides `unknown`. */
  readonly severities: readonly Exclude<Severity, 'unknown'>[];
  /** Names on hosts that it reads although no step watches them. */
  readonly watches?: Watches;
  /** True: an error that it finds on a host is also why facts of that host are unknown. They are not reported then. */
  readonly explainsUnknown?: true;
}

/**
 * A named reason not to start: pure, sees inventory and fleet. A `FactError` that it throws becomes a finding
 * `unknown`.
 */
export interface Check extends CheckPage {
  readonly test: (seen: { readonly inventory: Inventory; readonly fleet: Fleet }) => readonly Finding[];
}

/** The checks of a subject, by what they are about. */
export interface CheckGroup {
  /** A Linux host for itself. */
  readonly host?: readonly Check[];
  /** A Windows host for itself. */
  readonly windows?: readonly Check[];
  /** Hosts against each other, the inventory and the live cluster, where all hosts answer. */
  readonly fleet?: readonly Check[];
  /** What surveys measured. */
  readonly survey?: readonly Check[];
}

/** The order of findings: first those that stop `up`, then those that it mends, then warnings. */
const ORDER: readonly Severity[] = ['error', 'unknown', 'due', 'warning'];

/** The finding for a fact that is unknown. */
export const unknown = ({ host, message }: FactError): Finding => ({
  severity: 'unknown',
  host,
  message: message.replace(`${host}: `, ''),
});

function findingsOf(check: Check, inventory: Inventory, fleet: Fleet): readonly Finding[] {
  try {
    return check.test({ inventory, fleet });
  } catch (error) {
    if (error instanceof FactError) return [unknown(error)];
    throw error;
  }
}

/**
 * All findings of all checks: the grave ones first, then in the order of checks and of the inventory's hosts. What the
 * named checks find is lowered to warnings; `due` stays what it is.
 */
export function runChecks(
  checks: readonly Check[],
  { inventory, fleet }: { readonly inventory: Inventory; readonly fleet: Fleet },
  ignored: readonly string[] = [],
): readonly CheckedFinding[] {
  const places = new Map(inventory.hosts.map(({ name }, index) => [name, index]));
  const place = ({ host }: Finding) => places.get(host ?? '') ?? -1;
  const all = checks.flatMap((check) =>
    findingsOf(check, inventory, fleet)
      .toSorted((a, b) => place(a) - place(b))
      .map((finding): CheckedFinding => {
        const checked = { ...finding, check: check.name, page: docsPage(`checks.md#${check.name}`) };
        return ignored.includes(check.name) && finding.severity !== 'due'
          ? { ...checked, severity: 'warning', ignored: true }
          : checked;
      }),
  );
  const explaining = new Set(checks.flatMap(({ name, explainsUnknown }) => (explainsUnknown === true ? [name] : [])));
  const explained = new Set(
    all.flatMap(({ check, host, severity }) => (severity === 'error' && explaining.has(check) ? [host] : [])),
  );
  return all
    .filter(({ host, severity }) => severity !== 'unknown' || !explained.has(host))
    .toSorted((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
}

/** True of a finding that does not let `up` start. */
export const stops = ({ severity }: Finding): boolean => severity === 'error' || severity === 'unknown';

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
