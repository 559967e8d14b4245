import { declare, type OptionsOf } from '../command.ts';
import { usual } from '../options.ts';

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
