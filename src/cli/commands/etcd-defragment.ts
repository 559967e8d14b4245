import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { option } from '../option.ts';
import { timeout, usual, yes } from '../options.ts';

export const defragmentEtcd = declare({
  name: 'defragment',
  summary: 'Make room in etcd, and disarm its alarm NOSPACE',
  details:
    'Defragments one member at a time, the leader last, each only while all members are healthy. Under the alarm NOSPACE it compacts etcd first, and disarms the alarm when every database is below its quota. Needs no API. The same command finishes a run that was cut off. See [operations](operations.md#space-of-etcd).',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [...usual, option('--all', { summary: 'also defragment members with little to reclaim' }), yes, timeout],
  examples: ['kbuild etcd defragment', 'kbuild etcd defragment prod.yaml --yes', 'kbuild etcd defragment --all --json'],
});

/** The values of its options. */
export type DefragmentOptions = OptionsOf<typeof defragmentEtcd>;
