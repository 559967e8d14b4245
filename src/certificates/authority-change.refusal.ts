import { type Fleet, linuxFacts, observedLinux } from '../cluster/fleet/fleet.ts';
import { cutOff, halfUpgraded, notLive } from '../cluster/live.ts';
import { reason, type Reason, refusedFor, type Seen } from '../cluster/reasons.ts';
import { standing } from '../cluster/standing.ts';
import { type KbuildError, Refused } from '../errors.ts';
import { unfinishedActions } from '../host/unfinished.refusal.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { docsPage } from '../versions.ts';
import { ownAuthority } from './authorities.value.ts';
import type { RotatedName } from './certificates.facts.ts';

type Unready = Refused<'not-joined' | 'authority-missing' | 'authority-key-missing'>;

/** Control planes that cannot take part: not joined, or without the authority's files. */
function unready(inventory: Inventory, fleet: Fleet, name: RotatedName): readonly Unready[] {
  const signsElsewhere = ownAuthority(inventory, name) !== undefined;
  return controlPlanes(inventory).flatMap((host): readonly Unready[] => {
    const facts = linuxFacts(fleet, host);
    if (facts === undefined) return [];
    if (standing({ inventory, host, facts, fleet }) !== 'joined')
      return [new Refused('not-joined', host.name, 'it has not joined the cluster yet', 'join it first: `kbuild up`')];
    const { bundle, keys } = facts.authorities.files[name];
    if (bundle.length === 0)
      return [
        name === 'sa'
          ? new Refused(
              'authority-missing',
              host.name,
              'no public key of service account tokens is in /etc/kubernetes/pki/sa.pub',
              'copy the file from another control plane; a key in the form of a certificate, put there by ' +
                'itself: `openssl x509 -pubkey -noout`',
            )
          : new Refused(
              'authority-missing',
              host.name,
              `it has no authority ${name}`,
              'copy its files from another control plane',
            ),
      ];
    return keys.current !== undefined || signsElsewhere
      ? []
      : [
          new Refused(
            'authority-key-missing',
            host.name,
            name === 'sa'
              ? 'it does not have the key of service account tokens, /etc/kubernetes/pki/sa.key'
              : `it does not have the key of the authority ${name}`,
            name === 'sa'
              ? `bring the key back from a backup or another control plane: ${docsPage('operations.md#a-key-is-lost')}`
              : 'bring the key back from a backup or another control plane; if it is lost, only a new ' +
                  `authority helps: ${docsPage('operations.md#the-key-of-the-ca-is-lost')}`,
          ),
        ];
  });
}

/**
 * True if one of these authorities has expired: then the API does not answer because of that, and kbuild must work over
 * SSH alone.
 */
const haveEnded = (fleet: Fleet, names: readonly RotatedName[]): boolean =>
  observedLinux(fleet).some(
    ({ host, facts }) =>
      host.role === 'control-plane' &&
      names.some((name) => (facts.authorities.files[name].bundle[0]?.expiresMs ?? Infinity) <= facts.nowMs),
  );

/** Authorities that a command changes. */
interface Changing extends Seen {
  readonly names: readonly RotatedName[];
  /** The command that is refused. */
  readonly command: string;
}

/** Why authorities may not be changed now, besides what every command refuses. */
export const authorityChangeReasons: readonly Reason<Changing>[] = [
  reason(['unreadable-marker', 'unfinished-action'], ({ fleet, command }) => unfinishedActions(fleet, command)),
  halfUpgraded,
  reason(['external-etcd'], ({ inventory, names }) => {
    const { topology } = inventory.etcd;
    if (topology === 'stacked' || !names.includes('etcd-ca')) return undefined;
    const [why, remedy] =
      topology === 'external'
        ? [
            'etcd is your own, and so is its CA',
            'renew it there, name it in the inventory (etcd.ca), and run `kbuild up`',
          ]
        : [
            'kbuild does not change the CA of an etcd on hosts of its own yet',
            'name the other authorities: `kbuild certs renew-ca ca front-proxy-ca`',
          ];
    return new Refused('external-etcd', inventory.name, why, remedy);
  }),
  reason(
    ['windows-node-cut-off', 'unnamed-node'],
    (seen) => seen.names.includes('ca') && cutOff(seen, 'give a Windows node another CA'),
  ),
  reason(['not-joined', 'authority-missing', 'authority-key-missing'], ({ inventory, fleet, names }) =>
    names
      .filter((name) => name !== 'etcd-ca' || inventory.etcd.topology === 'stacked')
      .flatMap((name) => unready(inventory, fleet, name)),
  ),
];

/** What an authority that has ended keeps from answering is no reason: the change is done by SSH. */
export function authorityChangeRefusals(seen: Changing): readonly KbuildError[] {
  const { fleet, names } = seen;
  const why = fleet.cluster.state === 'down' && haveEnded(fleet, names) ? undefined : notLive(seen);
  return why === undefined ? refusedFor(authorityChangeReasons, seen) : [why];
}
