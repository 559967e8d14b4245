import { randomBytes } from 'node:crypto';
import { kubectl } from '../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { clusterConfiguration, initConfiguration, TOKEN_DESCRIPTION } from '../kubeadm/config.ts';
import { paths } from '../paths.ts';
import { revealed, Secret } from '../shell/secret.ts';
import { secretYaml } from '../shell/yaml.ts';
import type { Remote } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { AUTHORITY_FILES } from './authorities.facts.ts';
import { KUBEADM_AUTHORITIES, type KubeadmAuthority, ownAuthority, signsByCommand } from './authorities.value.ts';

/** AES-256: kubeadm takes 32 bytes as hexadecimal digits. */
const KEY_BYTES = 32;

/**
 * Uploads the certificates that control planes share, encrypted with a key for one join; calls `use` with the key; and
 * deletes them afterwards, also after a failure. The certificates of a killed run are useless without its key, which is
 * stored nowhere. The next run deletes them, and kubeadm lets them expire after two hours.
 */
export async function withUploadedCertificates<T>(
  control: Remote<'sh'>,
  inventory: Inventory,
  use: (certificateKey: Secret) => Promise<T>,
  mint: () => string = () => randomBytes(KEY_BYTES).toString('hex'),
): Promise<T> {
  const host = control.host as LinuxHost;
  const certificateKey = Secret.of(mint());
  const tool = kubectl(inventory, host);
  try {
    await control.job(
      'upload-certs',
      script('certificates/upload-certs.sh', {
        KUBECTL: tool.join(' '),
        ADMIN_CONF: paths.adminConf,
        DESCRIPTION: `${TOKEN_DESCRIPTION} certificates`,
      }),
      {
        'config.yaml': secretYaml([
          initConfiguration(inventory, host, { certificateKey }),
          clusterConfiguration(inventory),
        ]),
      },
    );
    return await use(certificateKey);
  } finally {
    await control.run(script('certificates/delete-uploaded-certs.sh', { KUBECTL: tool.join(' ') }));
  }
}

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
  const said = revealed(await remote.reveal(script('certificates/shared-certificates.sh', { NAMES: names })));
  return new Map(
    said.split('\n').flatMap((line): readonly [string, Secret][] => {
      const [name = '', encoded = ''] = line.split(' ');
      return encoded === '' ? [] : [[name, Secret.of(Buffer.from(encoded, 'base64').toString('utf8'))]];
    }),
  );
}

/**
 * Reads files below /etc/kubernetes/pki of a control plane into memory, for the job of another host. Throws if one is
 * not there.
 */
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

/**
 * Calls `use` with the shared certificates for one joining control plane, uploaded or copied by the inventory's
 * setting.
 */
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
 * The inventory's authorities for the founder's kubeadm, with their keys if given; no files of those that kubeadm
 * creates. Without the authority of an etcd on hosts of its own: control planes do not need it.
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
