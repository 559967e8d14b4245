import { declare, type OptionsOf } from '../command.ts';
import { bundleOnFailure, dead, kubeconfig, timeout, usual, yes } from '../options.ts';
import { identity, passphraseFile } from './backup.ts';

export const restore = declare({
  name: 'restore',
  summary: 'Bring a cluster back whose control planes are all lost, from a backup',
  details:
    'The control planes of the inventory are new, empty hosts, with the old names and addresses or others. The first one begins with the keys and the data of the backup, the others join it, and workers come back by themselves. It says what is missing before it begins, and refuses while a control plane of the cluster lives. The same command finishes a run that was cut off. See [operations](operations.md#all-control-planes-are-lost).',
  onHosts: 'changes',
  operand: { name: '<backup>', summary: 'a file of `kbuild backup`' },
  options: [...usual, identity, passphraseFile, dead, yes, kubeconfig, bundleOnFailure, timeout],
  examples: [
    'kbuild restore prod.age -i prod.yaml --identity ~/.ssh/id_ed25519',
    'kbuild restore prod.age -i prod.yaml --dead w7',
  ],
});

/** The values of its options. */
export type RestoreOptions = OptionsOf<typeof restore>;
