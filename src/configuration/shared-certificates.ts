import type { Inventory } from '../model/inventory.ts';
import type { Remote } from '../remote/remote.ts';
import { revealed, Secret } from '../shell/secret.ts';
import { script } from '../templates.ts';
import { AUTHORITY_FILES } from '../facts/linux/authorities.ts';
import {
  KUBEADM_AUTHORITIES,
  ownAuthority,
  signsByCommand,
  type KubeadmAuthority,
} from '../topology/own-authorities.ts';
import { withUploadedCertificates } from './certificate-key.ts';

/** Private files of kubeadm's job, which its script installs in /etc/kubernetes/pki; `_` in a name stands for `/`. */
export type PkiFiles = Readonly<Record<string, Secret>>;

/** How a joining control plane gets the shared certificates: by the key of the uploaded Secret, or as files. */
interface SharedCertificates {
  readonly certificateKey?: Secret;
  readonly files: PkiFiles;
}

/** The files of an authority below /etc/kubernetes/pki: its key is on no host where a command signs. */
export const authorityFiles = (inventory: Inventory, name: KubeadmAuthority): readonly string[] => [
  `${AUTHORITY_FILES[name]}.crt`,
  ...(signsByCommand(inventory, name) ? [] : [`${AUTHORITY_FILES[name]}.key`]),
];

/**
 * The files that kubeadm's guide copies, and no others: with another host's certificates a join fails, because their
 * names do not match.
 */
const sharedFiles = (inventory: Inventory): readonly string[] => [
  ...authorityFiles(inventory, 'ca'),
  ...['sa.key', 'sa.pub'],
  ...authorityFiles(inventory, 'front-proxy-ca'),
  ...(inventory.etcd.topology === 'stacked' ? authorityFiles(inventory, 'etcd-ca') : []),
];

/** Name of the job's file for a file below /etc/kubernetes/pki. */
export const pkiFile = (name: string): string => `pki_${name.replaceAll('/', '_')}`;

/** Files below /etc/kubernetes/pki of a host, read into memory. Without those that it does not have. */
export async function readPki(remote: Remote<'sh'>, names: readonly string[]): Promise<ReadonlyMap<string, Secret>> {
  // Lines of name and base64.
  const said = revealed(await remote.reveal(script('linux/shared-certificates.sh', { NAMES: names })));
  return new Map(
    said.split('\n').flatMap((line): readonly [string, Secret][] => {
      const [name = '', encoded = ''] = line.split(' ');
      return encoded === '' ? [] : [[name, Secret.of(Buffer.from(encoded, 'base64').toString('utf8'))]];
    }),
  );
}

/** Reads files below /etc/kubernetes/pki of a control plane into memory, for the job of another host. Throws if one is not there. */
export async function copied(control: Remote<'sh'>, names: readonly string[]): Promise<PkiFiles> {
  const found = await readPki(control, names);
  return Object.fromEntries(
    names.map((name) => {
      const content = found.get(name);
      if (content === undefined) throw new Error(`${control.host.name} did not give /etc/kubernetes/pki/${name}`);
      return [pkiFile(name), content];
    }),
  );
}

/** Calls `use` with the shared certificates for one joining control plane, uploaded or copied by the inventory's setting. */
export async function withSharedCertificates<T>(
  control: Remote<'sh'>,
  inventory: Inventory,
  use: (shared: SharedCertificates) => Promise<T>,
): Promise<T> {
  if (inventory.certificates.distribution === 'copy')
    return use({ files: await copied(control, sharedFiles(inventory)) });
  return withUploadedCertificates(control, inventory, (certificateKey) => use({ certificateKey, files: {} }));
}

/**
 * The inventory's authorities for the founder's kubeadm, with their keys if given; no files of those that kubeadm creates. That of an etcd
 * on hosts of its own is not for control planes.
 */
export const ownAuthorityFiles = (inventory: Inventory): PkiFiles =>
  Object.fromEntries(
    KUBEADM_AUTHORITIES.flatMap((name) => {
      const own = ownAuthority(inventory, name);
      if (own === undefined || (name === 'etcd-ca' && inventory.etcd.topology !== 'stacked')) return [];
      const file = AUTHORITY_FILES[name];
      return [
        [pkiFile(`${file}.crt`), Secret.of(own.cert)] as const,
        ...('key' in own ? [[pkiFile(`${file}.key`), own.key] as const] : []),
      ];
    }),
  );
