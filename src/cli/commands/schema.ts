import { declare, inventoryOperand } from '../command.ts';
import { everywhere } from '../options.ts';

export const schema = declare({
  name: 'schema',
  summary: 'Print the JSON Schema of the inventory',
  onHosts: 'nothing',
  operand: inventoryOperand,
  options: [...everywhere],
  examples: ['kbuild schema > inventory.schema.json'],
});
