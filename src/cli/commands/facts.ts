import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { hosts, usual } from '../options.ts';

export const facts = declare({
  name: 'facts',
  summary: 'Print what kbuild observes on the hosts, as JSON',
  onHosts: 'reads',
  operand: inventoryOperand,
  options: [...usual, hosts],
  examples: ['kbuild facts --hosts cp1'],
});

/** The values of its options. */
export type FactsOptions = OptionsOf<typeof facts>;
