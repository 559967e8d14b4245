import { declare, type OptionsOf } from '../command.ts';
import { json } from '../options.ts';
import { identity, passphraseFile } from './backup.ts';

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
