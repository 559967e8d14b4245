import { declare, type OptionsOf } from '../session/command.ts';
import {
  bundleOnFailure,
  count,
  dead,
  json,
  kubeconfig,
  option,
  parsedOption,
  timeout,
  usual,
  yes,
} from '../session/options.ts';

/** One whole value: a public key of SSH has blanks in it. */
const whole = (text: string): readonly string[] => [text.trim()];

export const passphraseFile = option('--passphrase-file <file>', {
  summary: 'the passphrase of the backup, in a file that only you may read',
});

export const identity = parsedOption('--identity <file>', whole, {
  summary: 'a private key that opens the backup: a file of age-keygen, or an SSH key (Ed25519); may be repeated',
});

export const backup = declare({
  name: 'backup',
  summary: 'Write all that a disaster needs into one encrypted file',
  details:
    'A verified snapshot of etcd, the keys of the control plane, the inventory, and hashes of the keys that ' +
    'encrypt Secrets at rest. Always encrypted ([age](https://age-encryption.org)): for the recipients of ' +
    '`--recipient` or of `backup.recipients` in the inventory, else by a passphrase that kbuild asks for. Prints ' +
    'the path of the file, which has mode 0600. See [operations](operations.md#backup).',
  onHosts: 'changes',
  operand: { name: '[file]', summary: 'where to; it must not be there yet' },
  options: [
    ...usual,
    parsedOption('--recipient <key>', whole, {
      summary: 'encrypt for the holder of this public key (age1…, ssh-ed25519 …); may be repeated',
      details: 'Instead of those of the inventory.',
    }),
    passphraseFile,
    option('--to <place>', {
      summary: 'a folder, which gets a new file; or command:COMMAND, which gets the encrypted backup on its input',
    }),
    parsedOption('--keep <n>', count, {
      summary: 'how many backups of this cluster the folder keeps, the newest ones (default: all)',
    }),
    timeout,
  ],
  examples: [
    'kbuild backup prod.age -i prod.yaml',
    'kbuild backup -i prod.yaml --to /srv/backups --keep 14 --quiet',
    `kbuild backup -i prod.yaml --to 'command:ssh backup@store "cat > prod.age"'`,
  ],
});

/** The values of its options. */
export type BackupOptions = OptionsOf<typeof backup>;

export const verifyBackup = declare({
  name: 'verify',
  summary: 'Open a backup, verify all of it, and say what it holds',
  onHosts: 'nothing',
  operand: { name: '<file>', summary: 'the backup' },
  options: [identity, passphraseFile, json],
  examples: ['kbuild backup verify prod.age --identity ~/.ssh/id_ed25519', 'kbuild backup verify prod.age --json'],
});

/** The values of its options. */
export type VerifyBackupOptions = OptionsOf<typeof verifyBackup>;

export const restore = declare({
  name: 'restore',
  summary: 'Bring a cluster back whose control planes are all lost, from a backup',
  details:
    'The control planes of the inventory are new, empty hosts, with the old names and addresses or others. The ' +
    'first one begins with the keys and the data of the backup, the others join it, and workers come back by ' +
    'themselves. It says what is missing before it begins, and refuses while a control plane of the cluster ' +
    'lives. The same command finishes a run that was cut off. See ' +
    '[operations](operations.md#all-control-planes-are-lost).',
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
