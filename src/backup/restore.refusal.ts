import { AUTHORITY_FILES } from '../certificates/authorities.facts.ts';
import {
  AUTHORITY_SETTINGS,
  KUBEADM_AUTHORITIES,
  ownAuthority,
  settingOf,
  signsByCommand,
} from '../certificates/authorities.value.ts';
import { shortFingerprint, spkiFingerprint } from '../certificates/fingerprint.value.ts';
import { Refused } from '../errors.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { changedFixedSettings } from '../kubeadm/fixed-settings.ts';
import { Secret } from '../shell/secret.ts';
import { compareVersions, minorOf } from '../versions.ts';
import { encryptionKeys, missingKeys } from './encryption-keys.ts';
import { configurationOf, type Manifest } from './manifest.ts';

/**
 * The reasons why kbuild cannot restore the inventory's cluster from a backup; empty if it can. Needs no host. The
 * name, the endpoint and the subnets must be the same, because every kubelet and kubeconfig holds them.
 */
export function backupRefusals(inventory: Inventory, manifest: Manifest): readonly Refused[] {
  if (manifest.cluster !== inventory.name)
    return [
      new Refused(
        'backup-of-other-cluster',
        inventory.name,
        `the backup is of the cluster "${manifest.cluster}"`,
        `use the inventory of "${manifest.cluster}": two clusters with the same keys would trust each other's users and nodes`,
      ),
    ];
  return [
    ...topologyRefusals(inventory, manifest),
    ...versionRefusals(inventory, manifest),
    ...changedFixedSettings(inventory, configurationOf(manifest)).map(
      ({ setting, wanted, live }) =>
        new Refused(
          'backup-setting',
          inventory.name,
          `${setting} is ${wanted}, the cluster of the backup has ${live === '' ? 'none' : live}`,
          setting === 'endpoint'
            ? `set kubernetes.endpoint to ${live}, and lead it to the new control planes (the name, the balancer, or the address itself): workers and kubeconfigs know no other`
            : `set ${setting} back to ${live}`,
        ),
    ),
    ...authorityRefusals(inventory, manifest),
    ...encryptionRefusals(inventory, manifest),
  ];
}

function topologyRefusals(inventory: Inventory, { etcd }: Manifest): readonly Refused[] {
  if (inventory.etcd.topology === 'stacked' && etcd.topology === 'stacked') return [];
  return [
    new Refused(
      'backup-topology',
      inventory.name,
      'its etcd does not run on the control planes, and kbuild brings only such clusters back from a backup',
      'if etcd still runs, no data is lost: name its hosts, and open the backup with age and tar to put /etc/kubernetes/pki back (docs/operations.md)',
    ),
  ];
}

function versionRefusals({ name, kubernetes }: Inventory, manifest: Manifest): readonly Refused[] {
  const { version } = kubernetes;
  if (minorOf(version) === minorOf(manifest.kubernetes) && compareVersions(version, manifest.kubernetes) >= 0)
    return [];
  return [
    new Refused(
      'backup-version',
      name,
      `kubernetes.version is ${version}, the backup is of ${manifest.kubernetes}`,
      `set kubernetes.version to ${manifest.kubernetes}; upgrade afterwards`,
    ),
  ];
}

/**
 * Refuses authorities of the inventory that differ from the backup's, or that sign in another way: the founder would
 * get keys and certificates that do not belong together.
 */
const authorityRefusals = (inventory: Inventory, manifest: Manifest): readonly Refused[] =>
  KUBEADM_AUTHORITIES.flatMap((name): readonly Refused[] => {
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
            `the backup does not have the key of the authority ${name} (${file}): its certificates are signed elsewhere`,
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

function encryptionRefusals(inventory: Inventory, { encryption }: Manifest): readonly Refused[] {
  const missing = missingKeys(encryption?.keys ?? [], keysOfFiles(inventory));
  if (encryption === undefined || missing.length === 0) return [];
  return [
    new Refused(
      'backup-encryption-key',
      inventory.name,
      `Secrets in the backup are encrypted with ${missing.map(({ provider, name, sha256 }) => `${provider} "${name}" (SHA-256 of the key ${sha256?.slice(0, 12) ?? ''}…)`).join(', ')}, and no file of the inventory has ${missing.length === 1 ? 'that key' : 'those keys'}`,
      `distribute ${encryption.path} with ${missing.length === 1 ? 'it' : 'them'} to the control planes (files:); no backup has the key itself`,
    ),
  ];
}
