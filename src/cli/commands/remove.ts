import { declare, type OptionsOf } from '../command.ts';
import { bundleOnFailure, dead, draining, timeout, usual, yes } from '../options.ts';

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
