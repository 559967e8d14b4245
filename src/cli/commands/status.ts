import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { option } from '../option.ts';
import { usual } from '../options.ts';

export const status = declare({
  name: 'status',
  summary: 'Show the cluster: nodes, etcd, certificates, drift',
  details:
    'Also the endpoint and the conditions, cordons and taints of nodes. The last line says whether the cluster is healthy (exit 0) or not (exit 5).',
  onHosts: 'reads',
  operand: inventoryOperand,
  options: [...usual, option('--bundle <file>', { summary: 'write a support bundle (tar.gz, secrets masked)' })],
  examples: ['kbuild status', 'kbuild status --json'],
});

/** The values of its options. */
export type StatusOptions = OptionsOf<typeof status>;
