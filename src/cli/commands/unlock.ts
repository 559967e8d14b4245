import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { option } from '../option.ts';
import { usual } from '../options.ts';

export const unlock = declare({
  name: 'unlock',
  summary: 'Show the holders of the locks, or free the locks',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [...usual, option('--force', { summary: 'free the locks' })],
  examples: ['kbuild unlock', 'kbuild unlock --force'],
});

/** The values of its options. */
export type UnlockOptions = OptionsOf<typeof unlock>;
