import { inventoryJsonSchema } from '../inventory/schema.ts';
import type { Context } from './context.ts';

/** `kbuild schema`: the JSON Schema of the inventory, for editors. */
export function runSchema(context: Context): Promise<number> {
  context.out(`${JSON.stringify(inventoryJsonSchema(), undefined, 2)}\n`);
  return Promise.resolve(0);
}
