import { InventoryError } from '../../errors.ts';
import { loadInventory, type Loaded } from '../../inventory/load.ts';
import { placedProblems } from '../../report/findings-at.ts';
import { annotations } from '../../report/github.ts';
import type { Context } from '../context.ts';
import type { Flags } from '../options.ts';
import { inventoryFile } from './inventory-file.ts';
import { fileInRepository } from './pipeline.ts';

/** Loads the inventory of a command that touches hosts; its warnings go to stderr. @throws InventoryError */
export async function readInventory(context: Context, flags: Flags): Promise<Loaded> {
  const { env, cwd } = context;
  const loaded = await loadInventory({ file: inventoryFile(context, flags), env, cwd }).catch((error: unknown) => {
    if (error instanceof InventoryError)
      context.workflow?.(
        annotations(placedProblems({ problems: error.problems, warnings: [] }, fileInRepository(context))),
      );
    throw error;
  });
  const { warnings } = loaded;
  // `-q` shows only errors. `validate` shows all warnings.
  for (const { at, path, message } of flags.quiet === true ? [] : warnings)
    context.err(`warning: ${at}: ${path}: ${message}\n`);
  return loaded;
}
