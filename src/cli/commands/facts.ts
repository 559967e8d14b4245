import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { connecting, everywhere, hosts, json, quiet } from '../options.ts';

export const facts = declare({
  name: 'facts',
  summary: 'Print what kbuild observes on the hosts, as JSON',
  onHosts: 'reads',
  operand: inventoryOperand,
  options: [...everywhere, json, quiet, ...connecting, hosts],
  examples: ['kbuild facts --hosts cp1'],
});

/** The values of its options. */
export type FactsOptions = OptionsOf<typeof facts>;
