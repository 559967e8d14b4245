import { type Fleet, type Kinds, observedLinux } from '../cluster/fleet/fleet.ts';
import { standing } from '../cluster/standing.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { AUTHORITY_FILES } from './authorities.facts.ts';
import { type KubeadmAuthority, signsByCommand } from './authorities.value.ts';

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
export const sharedKeys = (inventory: Inventory): readonly SharedKey[] => [
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
export interface LostKey {
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
