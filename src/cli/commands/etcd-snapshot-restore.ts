import { declare, type OptionsOf } from '../command.ts';
import { bundleOnFailure, dead, timeout, usual, yes } from '../options.ts';

export const restoreSnapshot = declare({
  name: 'restore',
  summary: 'Restore the whole control plane from a snapshot',
  onHosts: 'changes',
  operand: { name: '<file>', summary: 'the snapshot', completes: 'files' },
  options: [...usual, dead, yes, bundleOnFailure, timeout],
  examples: [
    'kbuild etcd snapshot restore prod.db -i prod.yaml',
    'kbuild etcd snapshot restore prod.db -i prod.yaml --dead cp2,cp3',
  ],
});

/** The values of its options. */
export type RestoreSnapshotOptions = OptionsOf<typeof restoreSnapshot>;
