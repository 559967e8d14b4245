import { declare, inventoryOperand, type OptionsOf } from '../session/command.ts';
import { bundleOnFailure, dead, option, timeout, usual, yes } from '../session/options.ts';
import { identity, passphraseFile } from './backup.command.ts';

export const defragmentEtcd = declare({
  name: 'defragment',
  summary: 'Make room in etcd, and disarm its alarm NOSPACE',
  details:
    'Defragments one member at a time, the leader last, each only while all members are healthy. Under the alarm ' +
    'NOSPACE it compacts etcd first, and disarms the alarm when every database is below its quota. Needs no API. ' +
    'The same command finishes a run that was cut off. See [operations](operations.md#space-of-etcd).',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [...usual, option('--all', { summary: 'also defragment members with little to reclaim' }), yes, timeout],
  examples: ['kbuild etcd defragment', 'kbuild etcd defragment prod.yaml --yes', 'kbuild etcd defragment --all --json'],
});

/** The values of its options. */
export type DefragmentOptions = OptionsOf<typeof defragmentEtcd>;

export const recoverEtcd = declare({
  name: 'recover',
  summary: 'Make the data of the only etcd member that is left the cluster, when quorum is lost',
  details:
    'Needs no snapshot and no API. It stops the control plane, makes new data from all that the member has, its ' +
    'log included, and starts it again as an etcd with one member; the old data is kept beside it. `--dead` ' +
    'names the hosts of all other members. It refuses while etcd has quorum. The same command finishes a run ' +
    'that was cut off. See [operations](operations.md#recover).',
  onHosts: 'changes',
  operand: inventoryOperand,
  options: [...usual, dead, yes, bundleOnFailure, timeout],
  examples: ['kbuild etcd recover --dead cp2,cp3', 'kbuild etcd recover prod.yaml --dead cp2,cp3'],
});

/** The values of its options. */
export type RecoverEtcdOptions = OptionsOf<typeof recoverEtcd>;

export const restoreSnapshot = declare({
  name: 'restore',
  summary: 'Restore the whole control plane from a snapshot',
  onHosts: 'changes',
  operand: { name: '<file>', summary: 'the snapshot, or a file of `kbuild backup`', completes: 'files' },
  options: [...usual, identity, passphraseFile, dead, yes, bundleOnFailure, timeout],
  examples: [
    'kbuild etcd snapshot restore prod.db -i prod.yaml',
    'kbuild etcd snapshot restore prod.db -i prod.yaml --dead cp2,cp3',
  ],
});

/** The values of its options. */
export type RestoreSnapshotOptions = OptionsOf<typeof restoreSnapshot>;

export const saveSnapshot = declare({
  name: 'save',
  summary: 'Save a verified snapshot of the live etcd',
  details: 'Prints the path of the file, which has mode 0600.',
  onHosts: 'changes',
  operand: {
    name: '[file]',
    summary: 'where to; default: a new file in $XDG_STATE_HOME/kbuild/<cluster>/snapshots',
    completes: 'files',
  },
  options: [...usual],
  examples: ['kbuild etcd snapshot save', 'kbuild etcd snapshot save prod.db -i prod.yaml'],
});

/** The values of its options. */
export type SaveSnapshotOptions = OptionsOf<typeof saveSnapshot>;
