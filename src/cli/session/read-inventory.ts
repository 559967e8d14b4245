import type { Inventory } from '../../model/inventory.ts';
import { loadInventory } from '../../inventory/load.ts';
import type { Context } from '../context.ts';
import type { Flags } from '../options.ts';

/** The inventory's file: the operand or -i, else $KBUILD_INVENTORY, else ./inventory.yaml. */
export const inventoryFile = (context: Context, flags: Flags): string =>
  flags.inventory ?? context.env['KBUILD_INVENTORY'] ?? 'inventory.yaml';

/** Loads the inventory of a command that touches hosts; its warnings go to stderr. @throws InventoryError */
export async function readInventory(context: Context, flags: Flags): Promise<Inventory> {
  const { inventory, warnings } = await loadInventory({
    file: inventoryFile(context, flags),
    env: context.env,
    cwd: context.cwd,
  });
  // `-q` shows only errors. `validate` shows all warnings.
  for (const { at, path, message } of flags.quiet === true ? [] : warnings)
    context.err(`warning: ${at}: ${path}: ${message}\n`);
  return inventory;
}
