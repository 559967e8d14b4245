import { declare, type OptionsOf } from '../command.ts';
import { bundleOnFailure, dead, timeout, usual, yes } from '../options.ts';
import { identity, passphraseFile } from './backup.ts';

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
