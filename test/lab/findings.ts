import { inventoryFile, kbuild, type Ran } from './kbuild.ts';
import type { LabInventory } from './inventory.ts';

/** One finding of `kbuild check --json`. */
export interface LabFinding {
  readonly check: string;
  readonly severity: string;
  readonly host?: string;
  readonly message: string;
}

/** `kbuild check` of an inventory; throws with its stderr where it printed no findings. */
export async function checked(
  inventory: object,
  ...flags: readonly string[]
): Promise<Ran & { readonly findings: readonly LabFinding[] }> {
  const { file } = inventoryFile(inventory);
  const ran = await kbuild('check', file, '--json', ...flags);
  if (ran.stdout === '') throw new Error(ran.stderr);
  const { findings } = JSON.parse(ran.stdout) as { findings: readonly LabFinding[] };
  return { ...ran, findings };
}

/** What stands out, sorted: not what `up` mends, not what the lab has by nature. */
export const notable = (inventory: LabInventory, findings: readonly LabFinding[]): readonly string[] =>
  findings
    .filter(({ severity, check }) => severity !== 'due' && !(inventory['ignoreChecks'] as string[]).includes(check))
    .map(({ check, host, severity }) => `${severity} ${check} ${host ?? ''}`.trimEnd())
    .toSorted();
