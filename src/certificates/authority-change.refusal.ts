import { apiVersionsText, isMixed } from '../cluster/api-versions.ts';
import { type Fleet, linuxFacts, observedLinux } from '../cluster/fleet/fleet.ts';
import { noCluster } from '../cluster/live.ts';
import { standing } from '../cluster/standing.ts';
import { type KbuildError, Refused } from '../errors.ts';
import { unfinishedActions } from '../host/unfinished.refusal.ts';
import { controlPlanes, windowsHosts } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { RotatedName } from './authorities.facts.ts';
import { ownAuthority } from './authorities.value.ts';

/** Nodes that must trust another CA of the cluster, and that kbuild cannot reach for that. */
function outOfReach(inventory: Inventory, { cluster }: Fleet): readonly Refused[] {
  const windows = windowsHosts(inventory).map(({ name }) => name);
  const named = new Set(inventory.hosts.map(({ name }) => name));
  const unnamed = cluster.state === 'up' ? cluster.nodes.filter(({ name }) => !named.has(name)) : [];
  return [
    ...windows.map(
      (name) =>
        new Refused(
          'windows-node-cut-off',
          name,
          'kbuild cannot give a Windows node another CA yet, and the node would be cut off',
          'take the node out of the cluster (`kbuild remove`), and join it again afterwards',
        ),
    ),
    ...unnamed.map(
      ({ name }) =>
        new Refused(
          'unnamed-node',
          name,
          'the inventory does not name this node of the cluster, which would be cut off',
          `name it in the inventory, or take it out with \`kbuild remove ${name}\``,
        ),
    ),
  ];
}

/** Control planes that cannot take part: not joined, or without the authority's files. */
function unready(inventory: Inventory, fleet: Fleet, name: RotatedName): readonly Refused[] {
  const signsElsewhere = ownAuthority(inventory, name) !== undefined;
  return controlPlanes(inventory).flatMap((host): readonly Refused[] => {
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
              'copy the file from another control plane; a key in the form of a certificate, put there by itself: `openssl x509 -pubkey -noout`',
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
              ? 'bring the key back from a backup or from another control plane: docs/operations.md, "A key is lost"'
              : 'bring the key back from a backup or from another control plane; if it is lost, only a new authority helps: docs/operations.md, "The key of the CA is lost"',
          ),
        ];
  });
}

/** True if one of these authorities has ended: then the API is away because of it, and SSH must do. */
const haveEnded = (fleet: Fleet, names: readonly RotatedName[]): boolean =>
  observedLinux(fleet).some(
    ({ host, facts }) =>
      host.role === 'control-plane' &&
      names.some((name) => (facts.authorities.files[name].bundle[0]?.expiresMs ?? Infinity) <= facts.nowMs),
  );

/**
 * Why authorities may not be changed now, all reasons at once; empty if they may. `command`: the one that is refused. Those of
 * `changeRefusals`, and of hosts that do not answer, come on top. Throws `FactError` when a fact that it needs is unknown.
 */
export function authorityChangeRefusals(
  inventory: Inventory,
  fleet: Fleet,
  { names, command }: { readonly names: readonly RotatedName[]; readonly command: string },
): readonly KbuildError[] {
  const { cluster } = fleet;
  if (cluster.state === 'absent')
    return [
      noCluster(fleet, new Refused('no-cluster', inventory.name, 'there is no cluster yet', 'build it: `kbuild up`')),
    ];
  if (cluster.state === 'down' && !haveEnded(fleet, names))
    return [
      new Refused(
        'cluster-down',
        inventory.name,
        `the cluster does not answer: ${cluster.reason}`,
        'bring it back first: `kbuild status` shows what is down; if its certificates have expired, `kbuild certs recover`',
      ),
    ];
  const { topology } = inventory.etcd;
  return [
    ...unfinishedActions(fleet, command),
    ...(cluster.state === 'up' && isMixed(cluster)
      ? [
          new Refused(
            'upgrade-unfinished',
            inventory.name,
            `an upgrade is half done (${apiVersionsText(cluster)})`,
            'finish it first: `kbuild upgrade`',
          ),
        ]
      : []),
    ...(names.includes('etcd-ca') && topology !== 'stacked'
      ? [
          new Refused(
            'external-etcd',
            inventory.name,
            topology === 'external'
              ? 'etcd is your own, and so is its CA'
              : 'kbuild does not change the CA of an etcd on hosts of its own yet',
            topology === 'external'
              ? 'renew it there, name it in the inventory (etcd.ca), and run `kbuild up`'
              : 'name the other authorities: `kbuild certs renew-ca ca front-proxy-ca`',
          ),
        ]
      : []),
    ...(names.includes('ca') ? outOfReach(inventory, fleet) : []),
    ...names
      .filter((name) => name !== 'etcd-ca' || topology === 'stacked')
      .flatMap((name) => unready(inventory, fleet, name)),
  ];
}
