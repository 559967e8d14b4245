import type { Context } from '../context.ts';
import type { Flags } from '../options.ts';

/** Where the inventory is if neither the command line nor the environment names it. */
export const DEFAULT_INVENTORY = 'inventory.yaml';

/** The inventory's file: the operand or -i, else $KBUILD_INVENTORY, else ./inventory.yaml. */
export const inventoryFile = (context: Context, flags: Flags): string =>
  flags.inventory ?? context.env['KBUILD_INVENTORY'] ?? DEFAULT_INVENTORY;
