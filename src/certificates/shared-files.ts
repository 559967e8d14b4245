import { randomBytes } from 'node:crypto';
import { type Fleet, type Kinds, observedLinux } from '../cluster/fleet/fleet.ts';
import { standing } from '../cluster/standing.ts';
import { kubectl } from '../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { clusterConfiguration, initConfiguration, TOKEN_DESCRIPTION } from '../kubeadm/config.ts';
import { paths } from '../paths.ts';
import { revealed, Secret } from '../shell/secret.ts';
import { secretYaml } from '../shell/yaml.ts';
import type { Remote } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { KUBEADM_AUTHORITIES, type KubeadmAuthority, ownAuthority, signsByCommand } from './authorities.value.ts';
import { AUTHORITY_FILES } from './certificates.facts.ts';

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

/** A private key that all control planes share, and the public file that belongs to it. */
interface SharedKey {
  /** Below /etc/kubernetes/pki. */
  readonly key: string;
  readonly proof: string;
}

/** The folder of these files. */
export const PKI_FOLDER = '/etc/kubernetes/pki';

/** The key of an authority; none where a command signs. */
const keyOf = (inventory: Inventory, name: KubeadmAuthority): readonly SharedKey[] =>
  signsByCommand(inventory, name)
    ? []
    : [{ key: `${AUTHORITY_FILES[name]}.key`, proof: `${AUTHORITY_FILES[name]}.crt` }];

/** The keys that all control planes of the inventory share. */
const sharedKeys = (inventory: Inventory): readonly SharedKey[] => [
  ...keyOf(inventory, 'ca'),
  { key: 'sa.key', proof: 'sa.pub' },
  ...keyOf(inventory, 'front-proxy-ca'),
  ...(inventory.etcd.topology === 'stacked' ? keyOf(inventory, 'etcd-ca') : []),
];

/** The files that tell which of these keys a control plane has. */
export const sharedKeyFiles = (inventory: Inventory, { role }: Pick<LinuxHost, 'role'>): readonly string[] =>
  role === 'control-plane'
    ? sharedKeys(inventory)
        .flatMap(({ key, proof }) => [key, proof])
        .map((name) => `${PKI_FOLDER}/${name}`)
    : [];

/** A key that a control plane does not have. */
interface LostKey {
  /** Below /etc/kubernetes/pki. */
  readonly key: string;
  /** A control plane that has it, beside the same certificate; undefined if none does. */
  readonly from: LinuxHost | undefined;
}

type Seen = Kinds['linux'];

const hashOf = ({ facts }: Pick<Seen, 'facts'>, name: string): string | undefined => {
  const state = facts.files.get(`${PKI_FOLDER}/${name}`);
  return state?.kind === 'file' ? state.sha256 : undefined;
};

/**
 * The keys that a joined control plane has lost; empty for every other host. Throws `FactError` when a fact that it
 * needs is unknown.
 */
export function lostKeys(inventory: Inventory, fleet: Fleet, seen: Pick<Seen, 'host' | 'facts'>): readonly LostKey[] {
  if (seen.host.role !== 'control-plane' || standing({ inventory, fleet, ...seen }) !== 'joined') return [];
  const others = observedLinux(fleet).filter(
    (other) =>
      other.host.role === 'control-plane' &&
      other.host.name !== seen.host.name &&
      standing({ inventory, fleet, ...other }) === 'joined',
  );
  return sharedKeys(inventory)
    .filter(({ key }) => hashOf(seen, key) === undefined)
    .map(({ key, proof }) => {
      const own = hashOf(seen, proof);
      const from = others.find(
        (other) => hashOf(other, key) !== undefined && own !== undefined && hashOf(other, proof) === own,
      );
      return { key, from: from?.host };
    });
}
