import { Refused } from '../errors.ts';
import { linuxFacts, type Fleet } from '../facts/fleet.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { linuxHosts, selects } from '../inventory/select.ts';
import { standing, toldClusterName } from './standing.ts';

/** What is to be torn down, and what was said about it. */
export interface ResetRequest {
  /** Patterns of `--hosts`; undefined: the whole cluster. */
  readonly hosts?: readonly string[] | undefined;
  /** Names that were typed to confirm (`--yes-destroy HOST`): only these may lose what is not ours. */
  readonly confirmed: readonly string[];
}

/**
 * Everything that `reset` refuses, all at once. A joined control plane is never reset alone: that would cost quorum or the
 * last control plane. A foreign host is cleaned only after its own name was typed.
 */
export function resetRefusals(inventory: Inventory, fleet: Fleet, request: ResetRequest): readonly Refused[] {
  return linuxHosts(inventory)
    .filter(({ name }) => selects(request.hosts, name))
    .flatMap((host): readonly Refused[] => {
      const facts = linuxFacts(fleet, host);
      if (facts === undefined) return [];
      const its = standing({ inventory, host, facts, fleet });
      if (its === 'joined' && host.role === 'control-plane' && request.hosts !== undefined) {
        return [
          new Refused(
            host.name,
            'it is a control plane of the live cluster; removing one from it is not supported yet',
            '`kbuild reset` without --hosts tears the whole cluster down',
          ),
        ];
      }
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
