import type { Fleet } from '../facts/fleet.ts';
import type { Inventory } from '../model/inventory.ts';
import { FactError } from '../errors.ts';
import type { Check, CheckedFinding, Finding, Severity } from './check.ts';

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
        const checked = { ...finding, check: check.name, page: `docs/checks.md#${check.name}` };
        return ignored.includes(check.name) && finding.severity !== 'due'
          ? { ...checked, severity: 'warning', ignored: true }
          : checked;
      }),
  );
  return all.toSorted((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
}

/** True of a finding that does not let `up` start. */
export const stops = ({ severity }: Finding): boolean => severity === 'error' || severity === 'unknown';
