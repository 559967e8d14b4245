import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { option } from '../option.ts';
import { bundleOnFailure, dead, draining, hosts, timeout, usual } from '../options.ts';

export const reset = declare({
  name: 'reset',
  summary: 'Destroy the cluster, or clean hosts',
  details:
    'Asks for the name of the cluster. With `--hosts`, it removes members of a live cluster as `remove` does, and cleans other hosts.',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [
    ...usual,
    hosts,
    dead,
    ...draining,
    option('--yes-destroy <name>', { summary: 'the name that kbuild would ask for' }),
    bundleOnFailure,
    timeout,
  ],
  examples: ['kbuild reset', 'kbuild reset --hosts w3', 'kbuild reset --yes-destroy prod'],
});

/** The values of its options. */
export type ResetOptions = OptionsOf<typeof reset>;
