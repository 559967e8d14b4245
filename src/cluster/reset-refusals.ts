import { Refused } from '../errors.ts';
import type { Fleet } from '../facts/fleet.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { selects } from '../inventory/select.ts';
import { membersOf } from './members.ts';
import { standing, toldClusterName } from './standing.ts';

/** What is to be torn down, and what was said about it. */
export interface ResetRequest {
  /** Patterns of `--hosts`; undefined: the whole cluster. */
  readonly hosts?: readonly string[] | undefined;
  /** Names that were typed to confirm (`--yes-destroy HOST`): only these may lose what is not ours. */
  readonly confirmed: readonly string[];
}

const factsOf = (fleet: Fleet, host: Host) => fleet.hosts.find((observed) => observed.host.name === host.name)?.facts;

/**
 * Hosts that `reset --hosts` would take out of a live cluster: for them it is the same as `remove`. Members, and the
 * half-finished ones that the cluster knows already.
 */
export function leavingByReset(
  inventory: Inventory,
  fleet: Fleet,
  hosts: readonly string[] | undefined,
): readonly string[] {
  const { cluster } = fleet;
  if (hosts === undefined || cluster.state !== 'up') return [];
  return inventory.hosts
    .filter(({ name }) => selects(hosts, name))
    .filter((host) => {
      const facts = factsOf(fleet, host);
      if (facts !== undefined && standing({ inventory, host, facts, fleet }) === 'foreign') return false;
      return cluster.nodes.some(({ name }) => name === host.name) || membersOf(cluster, host).length > 0;
    })
    .map(({ name }) => name);
}

/**
 * Everything that `reset` refuses, all at once. Members of a live cluster are never reset alone: they leave it, and what
 * stands against that is `removalRefusals`' business; a control plane of a cluster that does not answer cannot leave it. A
 * foreign host is cleaned only after its own name was typed.
 */
export function resetRefusals(inventory: Inventory, fleet: Fleet, request: ResetRequest): readonly Refused[] {
  return inventory.hosts
    .filter(({ name }) => selects(request.hosts, name))
    .flatMap((host): readonly Refused[] => {
      const facts = factsOf(fleet, host);
      if (facts === undefined) return [];
      const its = standing({ inventory, host, facts, fleet });
      if (
        request.hosts !== undefined &&
        its === 'joined' &&
        fleet.cluster.state !== 'up' &&
        (host.role === 'control-plane' || host.role === 'etcd')
      )
        return [
          new Refused(
            host.name,
            `it is ${host.role === 'etcd' ? 'an etcd member' : 'a control plane'} of a cluster that does not answer, and its etcd member may be needed`,
            'bring the cluster back first; `kbuild reset` without --hosts tears all of it down',
          ),
        ];
      if (its !== 'foreign' || request.confirmed.includes(host.name)) return [];
      const told = toldClusterName(facts);
      return [
        new Refused(
          host.name,
          told === undefined
            ? 'it holds remnants of a cluster that kbuild does not know'
            : `it belongs to the cluster "${told}"`,
          `\`kbuild reset --hosts ${host.name} --yes-destroy ${host.name}\` cleans it all the same`,
        ),
      ];
    });
}
