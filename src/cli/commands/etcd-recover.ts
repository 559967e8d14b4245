import { declare, inventoryOperand, type OptionsOf } from '../command.ts';
import { bundleOnFailure, dead, timeout, usual, yes } from '../options.ts';

export const recoverEtcd = declare({
  name: 'recover',
  summary: 'Make the data of the only etcd member that is left the cluster, when quorum is lost',
  details:
    'Needs no snapshot and no API. It stops the control plane, makes new data from all that the member has, its log included, and starts it again as an etcd with one member; the old data is kept beside it. `--dead` names the hosts of all other members. It refuses while etcd has quorum. The same command finishes a run that was cut off. See [operations](operations.md#recover).',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [...usual, dead, yes, bundleOnFailure, timeout],
  examples: ['kbuild etcd recover --dead cp2,cp3', 'kbuild etcd recover prod.yaml --dead cp2,cp3'],
});

/** The values of its options. */
export type RecoverEtcdOptions = OptionsOf<typeof recoverEtcd>;
