import {
  AUTHORITY_SETTINGS,
  KUBEADM_AUTHORITIES,
  ownAuthority,
  settingOf,
  signsByCommand,
} from '../certificates/authorities.value.ts';
import { AUTHORITY_FILES } from '../certificates/certificates.facts.ts';
import { shortFingerprint, spkiFingerprint } from '../certificates/fingerprint.value.ts';
import { linuxFacts } from '../cluster/fleet/fleet.ts';
import { lastReason, reason, type Reason, refusedFor, type Seen } from '../cluster/reasons.ts';
import { standing } from '../cluster/standing.ts';
import { Refused } from '../errors.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { isInitFromBackup } from '../kubeadm/marker.facts.ts';
import { changedFixedSettings } from '../kubeadm/settings.ts';
import { Secret } from '../shell/secret.ts';
import { compareVersions, docsPage, minorOf } from '../versions.ts';
import { encryptionKeys, missingKeys } from './encryption.ts';
import type { Workers } from './lost-cluster.ts';
import { configurationOf, type Manifest } from './manifest.ts';

/**
 * Refuses authorities of the inventory that differ from the backup's, or that sign in another way: the founder would
 * get keys and certificates that do not belong together.
 */
const authorityRefusals = (inventory: Inventory, manifest: Manifest) =>
  KUBEADM_AUTHORITIES.flatMap((name): readonly Refused<'backup-authority' | 'backup-authority-key'>[] => {
    const own = ownAuthority(inventory, name);
    const setting = settingOf(name);
    // The manifest uses the inventory's names of the authorities.
    const saved = manifest[AUTHORITY_SETTINGS[name]];
    const named = own === undefined ? saved : spkiFingerprint(own.cert);
    if (named !== saved)
      return [
        new Refused(
          'backup-authority',
          inventory.name,
          `${setting} is ${shortFingerprint(named)}…, the backup has ${shortFingerprint(saved)}…`,
          `name the cluster's own CA there, or take ${setting} out`,
        ),
      ];
    const file = `pki/${AUTHORITY_FILES[name]}.key`;
    const hasKey = manifest.parts.some((part) => part.name === file);
    if (hasKey && signsByCommand(inventory, name))
      return [
        new Refused(
          'backup-authority-key',
          inventory.name,
          `the backup has the key of the authority ${name} (${file}), and ${setting}.sign says that no host has it`,
          `take ${setting}.sign out (or name ${setting}.key)`,
        ),
      ];
    return hasKey || own !== undefined
      ? []
      : [
          new Refused(
            'backup-authority-key',
            inventory.name,
            `the backup does not have the key of the authority ${name} (${file}): its certificates are signed ` +
              'elsewhere',
            `name ${setting} with cert and sign`,
          ),
        ];
  });

/** Encryption keys in the files that the inventory distributes to its control planes. */
function keysOfFiles(inventory: Inventory) {
  const names = new Set(controlPlanes(inventory).map(({ name }) => name));
  return inventory.files
    .filter(({ hosts }) => hosts.some((host) => names.has(host)))
    .flatMap(({ content }) => {
      try {
        return encryptionKeys(content instanceof Secret ? content : Secret.of(content));
      } catch {
        return [];
      }
    });
}

function encryptionRefusal(inventory: Inventory, { encryption }: Manifest) {
  const missing = missingKeys(encryption?.keys ?? [], keysOfFiles(inventory));
  if (encryption === undefined || missing.length === 0) return undefined;
  const [key, it] = missing.length === 1 ? ['that key', 'it'] : ['those keys', 'them'];
  const named = missing.map(
    ({ provider, name, sha256 }) => `${provider} "${name}" (SHA-256 of the key ${sha256?.slice(0, 12) ?? ''}…)`,
  );
  return new Refused(
    'backup-encryption-key',
    inventory.name,
    `Secrets in the backup are encrypted with ${named.join(', ')}, and no file of the inventory has ${key}`,
    `distribute ${encryption.path} with ${it} to the control planes (files:); no backup has the key itself`,
  );
}

/** What is held against each other before a host is needed. */
interface Comparing {
  readonly inventory: Inventory;
  readonly manifest: Manifest;
}

/**
 * The reasons why kbuild cannot restore the inventory's cluster from a backup. Needs no host. The name, the endpoint
 * and the subnets must be the same, because every kubelet and kubeconfig holds them.
 */
export const backupReasons: readonly Reason<Comparing>[] = [
  lastReason(
    ['backup-of-other-cluster'],
    ({ inventory: { name }, manifest: { cluster } }) =>
      cluster !== name &&
      new Refused(
        'backup-of-other-cluster',
        name,
        `the backup is of the cluster "${cluster}"`,
        `use the inventory of "${cluster}": two clusters with the same keys would trust each other's users and nodes`,
      ),
  ),
  reason(
    ['backup-topology'],
    ({ inventory, manifest }) =>
      (inventory.etcd.topology !== 'stacked' || manifest.etcd.topology !== 'stacked') &&
      new Refused(
        'backup-topology',
        inventory.name,
        'its etcd does not run on the control planes, and kbuild brings only such clusters back from a backup',
        'if etcd still runs, no data is lost: name its hosts, and open the backup with age and tar to put ' +
          `/etc/kubernetes/pki back: ${docsPage('operations.md#a-key-is-lost')}`,
      ),
  ),
  reason(['backup-version'], ({ inventory: { name, kubernetes }, manifest }) => {
    const { version } = kubernetes;
    if (minorOf(version) === minorOf(manifest.kubernetes) && compareVersions(version, manifest.kubernetes) >= 0)
      return undefined;
    return new Refused(
      'backup-version',
      name,
      `kubernetes.version is ${version}, the backup is of ${manifest.kubernetes}`,
      `set kubernetes.version to ${manifest.kubernetes}; upgrade afterwards`,
    );
  }),
  reason(['backup-setting'], ({ inventory, manifest }) =>
    changedFixedSettings(inventory, configurationOf(manifest)).map(
      ({ setting, wanted, live }) =>
        new Refused(
          'backup-setting',
          inventory.name,
          `${setting} is ${wanted}, the cluster of the backup has ${live === '' ? 'none' : live}`,
          setting === 'endpoint'
            ? `set kubernetes.endpoint to ${live}, and lead it to the new control planes (the name, the ` +
                'balancer, or the address itself): workers and kubeconfigs know no other'
            : `set ${setting} back to ${live}`,
        ),
    ),
  ),
  reason(['backup-authority', 'backup-authority-key'], ({ inventory, manifest }) =>
    authorityRefusals(inventory, manifest),
  ),
  reason(['backup-encryption-key'], ({ inventory, manifest }) => encryptionRefusal(inventory, manifest)),
];

/** What the backup is refused for; empty if it can become the inventory's cluster. */
export const backupRefusals = (inventory: Inventory, manifest: Manifest): readonly Refused[] =>
  refusedFor(backupReasons, { inventory, manifest });

/**
 * Workers are nodes of a cluster and none of them trusts the backup's CA: the backup is of another cluster with the
 * same name.
 */
export const workerReasons: readonly Reason<{ readonly inventory: Inventory; readonly workers: Workers }>[] = [
  reason(
    ['backup-of-other-cluster'],
    ({ inventory: { name }, workers: { own, others } }) =>
      own.length === 0 &&
      others.length > 0 &&
      new Refused(
        'backup-of-other-cluster',
        name,
        `${others.join(', ')} ${others.length === 1 ? 'is a node' : 'are nodes'} of a cluster with another CA: ` +
          'the backup is of another cluster of the same name',
        'take the backup of this cluster, or take these hosts out of the inventory',
      ),
  ),
];

/**
 * The reasons why kbuild must not create new control planes on these hosts: a host holds a control plane, or a control
 * plane serves the endpoint, so not all control planes are lost. `fleet`: without workers.
 */
export const controlPlaneReasons: readonly Reason<Seen>[] = [
  reason(['control-plane-lives'], ({ inventory, fleet }) => {
    const controls = controlPlanes(inventory).flatMap((host) => {
      const facts = linuxFacts(fleet, host);
      return facts === undefined ? [] : [{ host, facts }];
    });
    const held = controls.filter(({ host, facts }) =>
      ['joined', 'foreign'].includes(standing({ inventory, host, facts, fleet })),
    );
    const serving = controls.filter(({ facts }) => facts.endpoint === 'serves');
    return [
      ...held.map(
        ({ host, facts }) =>
          new Refused(
            'control-plane-lives',
            host.name,
            'it holds a control plane or parts of one, so not all control planes are lost',
            isInitFromBackup(facts.marker)
              ? 'an earlier restore created it: run the same command again when its API answers, within minutes ' +
                  `after ${host.name} has started; if it does not answer, \`kbuild reset --hosts ${host.name}\` ` +
                  'first'
              : 'if its data may be wanted: `kbuild etcd snapshot restore` or `kbuild etcd recover`, see ' +
                  `${docsPage('operations.md#recover')}; if not, \`kbuild reset --hosts ${host.name}\` first`,
          ),
      ),
      ...(serving.length === 0
        ? []
        : [
            new Refused(
              'control-plane-lives',
              inventory.name,
              `the endpoint ${inventory.endpoint} is served (seen from ` +
                `${serving.map(({ host }) => host.name).join(', ')}): a control plane lives`,
              'switch it off for good, or name it in the inventory and use it; two of them would each take writes',
            ),
          ]),
    ];
  }),
];
