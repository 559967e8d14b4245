import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { codeQuality, everywhere, json, quiet } from '../options.ts';

export const validate = declare({
  name: 'validate',
  summary: 'Report every problem of the inventory with its line',
  details: 'Prints each problem as `file:line:column`. Runs no command and fetches no URL.',
  onHosts: 'nothing',
  operand: inventoryOperand,
  options: [...everywhere, json, quiet, codeQuality],
  examples: ['kbuild validate inventory.yaml'],
});

/** The values of its options. */
export type ValidateOptions = OptionsOf<typeof validate>;
