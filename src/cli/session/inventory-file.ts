import type { Context } from '../context.ts';
import type { Flags } from '../options.ts';

/** The inventory's file: the operand or -i, else $KBUILD_INVENTORY, else ./inventory.yaml. */
export const inventoryFile = (context: Context, flags: Flags): string =>
  flags.inventory ?? context.env['KBUILD_INVENTORY'] ?? 'inventory.yaml';
