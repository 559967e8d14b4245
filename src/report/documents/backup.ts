import * as z from 'zod';
import { cluster, document, listOf, number, oneOf, text, texts } from './fields.ts';

const encryption = z
  .object({
    path: text('Where API servers read their EncryptionConfiguration.'),
    keys: listOf(
      z.object({
        provider: text('`aescbc`, `secretbox`, `kms` …'),
        name: text('Its name there.'),
        sha256: text('Of the key as the file writes it; missing for `kms`.').exactOptional(),
      }),
      'The keys, which the backup does not hold.',
    ),
  })
  .meta({ description: 'What encrypts Secrets in etcd; missing if nothing does.' })
  .exactOptional();

/** `kbuild backup --json` */
export const backup = document('What `kbuild backup --json` prints.', {
  file: text('The path of the backup; missing if a command got it.').exactOptional(),
  deleted: texts('Names of older backups that `--keep` deleted.'),
  through: text('The host whose member of etcd gave the snapshot.'),
  ca: text("Fingerprint of the cluster's CA."),
  revision: number("etcd's revision: the number of the last change in the snapshot."),
  keys: number('How many keys etcd holds.'),
  version: text("Of etcd's storage, e.g. `3.6.0`."),
  encryption,
});

/** `kbuild backup verify --json` */
export const backupContents = document('What `kbuild backup verify --json` prints.', {
  cluster,
  taken: text('RFC 3339.'),
  kbuild: text('Version of the kbuild that made it.'),
  kubernetes: text('Version of the API servers, without `v`.'),
  endpoint: text('`host:port`'),
  ca: text("Fingerprint of the cluster's CA."),
  topology: oneOf(['stacked', 'built'], 'Where etcd ran.'),
  revision: number("etcd's revision: the number of the last change in the snapshot."),
  keys: number('How many keys etcd holds.'),
  controlPlanes: listOf(
    z.object({ name: text('Of the node.'), address: text('Its address then.') }),
    'The control planes of that time.',
  ),
  workers: texts('The other nodes of that time.'),
  encryption,
  files: listOf(
    z.object({ name: text('Of the part.'), path: text('Where it lay.') }),
    'Files that the inventory named.',
  ),
  parts: listOf(
    z.object({ name: text('In the archive.'), size: number('Bytes.'), sha256: text('Hexadecimal.') }),
    'All that it holds.',
  ),
});
