import { type Fleet, type Kinds, observedLinux } from '../cluster/fleet/fleet.ts';
import { clusterCas, hasOwnMarker, standing } from '../cluster/standing.ts';
import { Refused } from '../errors.ts';
import { controlPlanes, linuxNodes } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { docsPage } from '../versions.ts';
import {
  KUBEADM_AUTHORITIES,
  type KubeadmAuthority,
  ownAuthority,
  settingOf,
  signsByCommand,
} from './authorities.value.ts';
import { AUTHORITY_FILES } from './certificates.facts.ts';
import { shortFingerprint, spkiFingerprint } from './fingerprint.value.ts';
import { signingAuthority } from './signing-command.value.ts';

const CA_KEY = '/etc/kubernetes/pki/ca.key';

/** Fingerprints of the authority with which the joined control planes sign, or have been signed. */
function liveAuthorities(inventory: Inventory, fleet: Fleet, name: KubeadmAuthority): ReadonlySet<string> {
  if (name === 'ca') return clusterCas(fleet);
  return new Set(
    joinedControlPlanes(inventory, fleet).flatMap(({ facts }) => {
      const [first] = facts.authorities.files[name].bundle;
      return first === undefined ? [] : [first.fingerprint];
    }),
  );
}

const joinedControlPlanes = (inventory: Inventory, fleet: Fleet) =>
  observedLinux(fleet).filter(
    ({ host, facts }) => host.role === 'control-plane' && standing({ inventory, host, facts, fleet }) === 'joined',
  );

/**
 * Refuses if an authority of the inventory is not the live cluster's. Throws `FactError` when a fact that it needs is
 * unknown.
 */
export const anotherAuthority = (inventory: Inventory, fleet: Fleet): readonly Refused<'authority-changed'>[] =>
  KUBEADM_AUTHORITIES.flatMap((name) => {
    const own = ownAuthority(inventory, name);
    if (own === undefined) return [];
    const live = liveAuthorities(inventory, fleet, name);
    const desired = spkiFingerprint(own.cert);
    if (live.size === 0 || live.has(desired)) return [];
    const setting = settingOf(name);
    return [
      new Refused(
        'authority-changed',
        inventory.name,
        `${setting} is ${shortFingerprint(desired)}…, the cluster was made with ` +
          `${[...live].map(shortFingerprint).join('… and ')}…, and Kubernetes cannot change it`,
        `name the cluster's own CA there, or take ${setting} out; another CA needs a new cluster`,
      ),
    ];
  });

/** Authorities below the cluster's whose key kubeadm's control planes have, unless a command signs. */
const innerNames = ({ etcd }: Inventory) =>
  etcd.topology === 'stacked' ? (['etcd-ca', 'front-proxy-ca'] as const) : (['front-proxy-ca'] as const);

/**
 * Refuses if nothing can sign: the certificate of an authority is on the control planes, its key on none of them, and
 * no command signs. Only checked if the inventory has the authority with its key, or before a control plane joins:
 * nothing else needs a signature.
 */
function innerKeysMissing(inventory: Inventory, fleet: Fleet): readonly Refused<'authority-key-missing'>[] {
  const joined = joinedControlPlanes(inventory, fleet);
  const seen = observedLinux(fleet).filter(({ host }) => host.role === 'control-plane');
  // A control plane that was not observed may have the key.
  if (seen.length < controlPlanes(inventory).length) return [];
  return innerNames(inventory).flatMap((name) => {
    const [first] = joined;
    if (first === undefined || signsByCommand(inventory, name)) return [];
    if (ownAuthority(inventory, name) === undefined && seen.length === joined.length) return [];
    const files = joined.map(({ facts }) => facts.authorities.files[name]);
    if (files.some(({ bundle, keys }) => bundle.length === 0 || keys.current !== undefined)) return [];
    return [
      new Refused(
        'authority-key-missing',
        first.host.name,
        `no control plane has the key of the authority ${name} ` +
          `(/etc/kubernetes/pki/${AUTHORITY_FILES[name]}.key): a command signs for it, or the key is lost`,
        `name ${settingOf(name)} with cert and sign; a key that is lost: take it from your backup, ` +
          docsPage('operations.md#a-key-is-lost'),
      ),
    ];
  });
}

/**
 * @throws Refused if the host that creates the cluster has another authority than the inventory's: kubeadm's files
 * would overwrite it, and kbuild does not know who made it. Does not check the cluster's CA: it is one of kubeadm's
 * traces, which `standing` reports.
 */
export function refuseOverwriting(inventory: Inventory, { host, facts }: Pick<Kinds['linux'], 'host' | 'facts'>): void {
  // kbuild undoes the leftovers of an interrupted init of this cluster before the next init.
  if (hasOwnMarker(inventory, facts)) return;
  for (const name of innerNames(inventory)) {
    const own = ownAuthority(inventory, name);
    const [found] = facts.authorities.files[name].bundle;
    if (own === undefined || found === undefined || found.fingerprint === spkiFingerprint(own.cert)) continue;
    throw new Refused(
      'authority-in-place',
      host.name,
      `/etc/kubernetes/pki/${AUTHORITY_FILES[name]}.crt is ${shortFingerprint(found.fingerprint)}…, and ` +
        `${settingOf(name)} is ${shortFingerprint(spkiFingerprint(own.cert))}…: kbuild does not overwrite an ` +
        'authority',
      `find out what it is for; move it away if nothing needs it, or name it in ${settingOf(name)}`,
    );
  }
}

/** Refuses a control plane that has the key of an authority for which a command signs. */
function innerKeys(inventory: Inventory, fleet: Fleet): readonly Refused<'authority-signer'>[] {
  const signed = innerNames(inventory).filter((name) => signsByCommand(inventory, name));
  if (signed.length === 0) return [];
  const joined = joinedControlPlanes(inventory, fleet);
  return signed.flatMap((name) => {
    const has = joined.find(({ facts }) => facts.authorities.files[name].keys.current !== undefined);
    return has === undefined
      ? []
      : [
          new Refused(
            'authority-signer',
            has.host.name,
            `it has the key of the authority ${name} (/etc/kubernetes/pki/${AUTHORITY_FILES[name]}.key), and ` +
              `${settingOf(name)}.sign says that no host has it`,
            `take ${settingOf(name)}.sign out (or name ${settingOf(name)}.key); another way of signing needs a ` +
              'new cluster',
          ),
        ];
  });
}

/**
 * Refuses to change the signer of a cluster, which is fixed when the cluster is built: kubeadm and the controller
 * manager with the CA key on the hosts, or the inventory's signing command. Throws `FactError` when a fact that it
 * needs is unknown.
 */
export function anotherSigner(
  inventory: Inventory,
  fleet: Fleet,
): readonly Refused<'authority-signer' | 'authority-key-missing'>[] {
  const seen = observedLinux(fleet).map(({ host, facts }) => ({
    host,
    facts,
    joined: standing({ inventory, host, facts, fleet }) === 'joined',
  }));
  const control = seen.filter(({ host, joined }) => joined && host.role === 'control-plane');
  const [has] = control.filter(({ facts }) => facts.kubernetesTraces.has(CA_KEY));
  const [lacks] = control.filter(({ facts }) => !facts.kubernetesTraces.has(CA_KEY));
  const inner = [...innerKeys(inventory, fleet), ...innerKeysMissing(inventory, fleet)];
  if (signingAuthority(inventory) !== undefined)
    return has === undefined
      ? inner
      : [
          ...inner,
          new Refused(
            'authority-signer',
            has.host.name,
            `it has the key of the cluster's CA (${CA_KEY}), with which kubeadm and the cluster sign, and ` +
              'certificates.ca.sign says that no host has it',
            'take certificates.ca.sign out (or name certificates.ca.key); another way of signing needs a new cluster',
          ),
        ];
  const joins = linuxNodes(inventory).some((host) =>
    seen.some((other) => other.host.name === host.name && !other.joined),
  );
  return lacks === undefined || !(joins || inventory.certificates.ca !== undefined)
    ? inner
    : [
        ...inner,
        new Refused(
          'authority-signer',
          lacks.host.name,
          `it does not have the key of the cluster's CA (${CA_KEY}): certificates of this cluster are signed elsewhere`,
          'name certificates.ca with cert and sign',
        ),
      ];
}
