import { encryptionKeys, missingKeys } from '../backup/encryption-keys.ts';
import { configurationOf, type Manifest } from '../backup/manifest.ts';
import { changedFixedSettings } from '../configuration/immutable.ts';
import { Refused } from '../errors.ts';
import { linuxFacts, observedLinux, type Fleet } from '../facts/fleet.ts';
import { isInitFromBackup } from '../facts/marker.ts';
import type { Inventory } from '../model/inventory.ts';
import { shortFingerprint, spkiFingerprint } from '../shell/fingerprint.ts';
import { Secret } from '../shell/secret.ts';
import { controlPlanes } from '../topology/select.ts';
import { compareVersions, minorOf } from '../versions.ts';
import { standing } from './standing.ts';

/**
 * Why a backup is none of the inventory's cluster, or cannot become it; empty if it can. Pure, and needs no host: the endpoint,
 * the subnets and the name must be the same, because every kubelet and kubeconfig holds them.
 */
export function backupRefusals(inventory: Inventory, manifest: Manifest): readonly Refused[] {
  if (manifest.cluster !== inventory.name)
    return [
      new Refused(
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
      inventory.name,
      'its etcd does not run on the control planes, and kbuild brings only such clusters back from a backup by itself',
      'docs/operations.md, "All control planes are lost", has the way by hand',
    ),
  ];
}

function versionRefusals({ name, kubernetes }: Inventory, manifest: Manifest): readonly Refused[] {
  const { version } = kubernetes;
  if (minorOf(version) === minorOf(manifest.kubernetes) && compareVersions(version, manifest.kubernetes) >= 0)
    return [];
  return [
    new Refused(
      name,
      `kubernetes.version is ${version}, the backup is of ${manifest.kubernetes}`,
      `set kubernetes.version to ${manifest.kubernetes}; upgrade afterwards`,
    ),
  ];
}

function authorityRefusals({ name, certificates }: Inventory, manifest: Manifest): readonly Refused[] {
  if (certificates.ca === undefined) return [];
  const named = spkiFingerprint(certificates.ca.cert);
  if (named === manifest.ca) return [];
  return [
    new Refused(
      name,
      `certificates.ca is ${shortFingerprint(named)}…, the backup has ${shortFingerprint(manifest.ca)}…`,
      "name the cluster's own CA there, or take certificates.ca out",
    ),
  ];
}

/** Keys of the files that the inventory gives its control planes. */
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
      inventory.name,
      `Secrets in the backup are encrypted with ${missing.map(({ provider, name, sha256 }) => `${provider} "${name}" (SHA-256 of the key ${sha256?.slice(0, 12) ?? ''}…)`).join(', ')}, and no file of the inventory has ${missing.length === 1 ? 'that key' : 'those keys'}`,
      `distribute ${encryption.path} with ${missing.length === 1 ? 'it' : 'them'} to the control planes (files:); no backup has the key itself`,
    ),
  ];
}

/** How the workers of the inventory stand to a backup. */
export interface Workers {
  /** Their kubelets trust its CA: they come by themselves. */
  readonly own: readonly string[];
  /** Nodes of another cluster. */
  readonly others: readonly string[];
  /** Not observed. */
  readonly unknown: readonly string[];
}

/** The workers of the inventory by the CA that their kubelets trust. Throws `FactError` when that is unknown. */
export function workersOf(inventory: Inventory, fleet: Fleet, { ca }: Manifest): Workers {
  const workers = fleet.hosts.filter(({ host }) => host.role === 'worker');
  const nodes = workers.filter(({ facts }) => facts.caFingerprint !== 'absent');
  const namesOf = (list: typeof nodes): readonly string[] => list.map(({ host }) => host.name);
  return {
    own: namesOf(nodes.filter(({ facts }) => facts.caFingerprint === ca)),
    others: namesOf(nodes.filter(({ facts }) => facts.caFingerprint !== ca)),
    unknown: fleet.unreachable.filter(({ host }) => host.role === 'worker').map(({ host }) => host.name),
  };
}

/** Refuses a backup whose CA no worker trusts although they are nodes of some cluster: it is of another one with the name. */
export function workerRefusals({ name }: Inventory, { own, others }: Workers): readonly Refused[] {
  if (own.length > 0 || others.length === 0) return [];
  return [
    new Refused(
      name,
      `${others.join(', ')} ${others.length === 1 ? 'is a node' : 'are nodes'} of a cluster with another CA: the backup is of another cluster of the same name`,
      'take the backup of this cluster, or take these hosts out of the inventory',
    ),
  ];
}

/**
 * Why control planes cannot be made anew on these hosts: one of them holds a control plane, or the endpoint is served, so not
 * all are lost. `fleet`: without workers. Throws `FactError` when a fact that it needs is unknown.
 */
export function splitBrainRefusals(inventory: Inventory, fleet: Fleet): readonly Refused[] {
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
      ({ host }) =>
        new Refused(
          host.name,
          'it holds a control plane or parts of one, so not all control planes are lost',
          isInitFromBackup(linuxFacts(fleet, host)?.marker)
            ? `a restore came far here: run the same command again when its API answers, within minutes after ${host.name} has started; else \`kbuild reset --hosts ${host.name}\` first`
            : `if its data may be wanted: \`kbuild etcd snapshot restore\` or \`kbuild etcd recover\`, see docs/operations.md; if not, \`kbuild reset --hosts ${host.name}\` first`,
        ),
    ),
    ...(serving.length === 0
      ? []
      : [
          new Refused(
            inventory.name,
            `the endpoint ${inventory.endpoint} is served (seen from ${serving.map(({ host }) => host.name).join(', ')}): a control plane lives`,
            'switch it off for good, or name it in the inventory and use it; two of them would each take writes',
          ),
        ]),
  ];
}

const KUBELET_CONF = '/etc/kubernetes/kubelet.conf';

/**
 * Refuses to found a cluster where every worker that answers is a node of one already: its control planes are lost, and a new
 * cluster under the same endpoint would have another CA, so that none of them could come back. undefined elsewhere. Throws
 * `FactError` when a fact that it needs is unknown.
 */
export function lostCluster(inventory: Inventory, fleet: Fleet): Refused | undefined {
  if (fleet.cluster.state !== 'absent') return undefined;
  const workers = observedLinux(fleet).filter(({ host }) => host.role === 'worker');
  const isNode = ({ host, facts }: (typeof workers)[number]): boolean =>
    facts.kubernetesTraces.has(KUBELET_CONF) &&
    facts.caFingerprint !== 'absent' &&
    standing({ inventory, host, facts, fleet }) === 'foreign';
  const [first] = workers;
  if (first === undefined || !workers.every(isNode)) return undefined;
  const names = workers.map(({ host }) => host.name);
  if (new Set(workers.map(({ facts }) => facts.caFingerprint)).size > 1) return undefined;
  return new Refused(
    inventory.name,
    `${names.join(', ')} ${names.length === 1 ? 'is a node' : 'are nodes'} of a cluster already (CA ${shortFingerprint(first.facts.caFingerprint)}…), and no control plane of the inventory has one: a new cluster would shut ${names.length === 1 ? 'it' : 'them'} out for good`,
    `if the control planes are lost: \`kbuild restore BACKUP\` brings the cluster back; if no cluster needs ${names.length === 1 ? 'it' : 'them'}: \`kbuild reset --hosts ${names.join(',')}\` first`,
  );
}

/** An address of the lost control plane at which something may still run. */
export interface OldAddress {
  readonly name: string;
  readonly address: string;
}

/** Addresses of the backup's control planes and members that none of the observed hosts has. */
export function oldAddresses(fleet: Fleet, { controlPlanes: controls, etcd }: Manifest): readonly OldAddress[] {
  const here = new Set(
    observedLinux(fleet).flatMap(({ host, facts }) => [
      host.address,
      host.internalAddress,
      ...facts.interfaces.flatMap(({ addresses }) => addresses),
    ]),
  );
  const all = [
    ...controls,
    ...etcd.members.flatMap(({ name, peerUrl }) => {
      try {
        return [{ name, address: new URL(peerUrl).hostname.replace(/^\[|\]$/g, '') }];
      } catch {
        return [];
      }
    }),
  ];
  return [
    ...new Map(
      all.filter(({ address }) => address !== '' && !here.has(address)).map((one) => [one.address, one]),
    ).values(),
  ];
}

/**
 * The nodes of lost control planes that the API still has: their machines are gone, and their names may come back on others.
 * Throws `FactError` when a fact that it needs is unknown.
 */
export function lostNodes(inventory: Inventory, fleet: Fleet, manifest: Manifest): readonly string[] {
  const { cluster } = fleet;
  if (cluster.state !== 'up') return [];
  return manifest.controlPlanes
    .map(({ name }) => name)
    .filter((name) => cluster.nodes.some((node) => node.name === name))
    .filter((name) => {
      const host = inventory.hosts.find((one) => one.name === name);
      if (host === undefined) return true;
      if (host.os !== 'linux' || host.role !== 'control-plane') return false;
      const facts = linuxFacts(fleet, host);
      return facts !== undefined && ['bare', 'prepared'].includes(standing({ inventory, host, facts, fleet }));
    });
}
