import { declare, inventoryOperand, type OptionsOf } from '../session/command.ts';
import { bundleOnFailure, dead, draining, hosts, option, timeout, usual, yes } from '../session/options.ts';

export const remove = declare({
  name: 'remove',
  summary: 'Drain hosts and remove them from the live cluster, with their etcd members',
  onHosts: 'changes',
  operand: {
    name: '<hosts...>',
    summary: 'hosts of the inventory, or nodes that it no longer names',
    completes: 'hosts',
  },
  options: [...usual, dead, ...draining, yes, bundleOnFailure, timeout],
  examples: ['kbuild remove w3', 'kbuild remove cp2 -i prod.yaml', 'kbuild remove cp2 --dead cp2'],
});

/** The values of its options. */
export type RemoveOptions = OptionsOf<typeof remove>;

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
