import { FactError, hasRemedy, type KbuildError, Refused, SeveralErrors } from '../errors.ts';
import { windowsHosts } from '../inventory/hosts.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { apiVersionsText, isMixed } from './api-versions.ts';
import { type Fleet, observedLinux } from './fleet/fleet.ts';
import type { ClusterUp } from './fleet/view.ts';
import { reason, type Reason, refusedFor, type Seen } from './reasons.ts';

/**
 * The error where no cluster was found. A control plane that was not reached may hold one: then its error, which says
 * more, and not `none`, whose remedy would build a second cluster. A host that `--dead` names is gone by the
 * operator's word.
 */
export function noCluster({ unreachable }: Fleet, none: KbuildError): KbuildError {
  const missing = unreachable.filter(({ host, isDead }) => host.role === 'control-plane' && isDead !== true);
  if (missing.length === 0) return none;
  const errors = missing.map(({ error }) => error);
  const names = missing.map(({ host }) => host.name).join(', ');
  return new SeveralErrors(
    errors,
    // The last line is the remedy of the reason, where the reason has one.
    hasRemedy(errors)
      ? {}
      : {
          remedy:
            `make ${names} reachable and run the same command again: whether there is a cluster is not known ` +
            'until then',
        },
  );
}

const noneYet = (fleet: Fleet, name: string): KbuildError =>
  noCluster(fleet, new Refused('no-cluster', name, 'there is no cluster yet', 'build it: `kbuild up`'));

/** @throws why the inventory has no cluster yet */
export function refuseNoCluster({ inventory, fleet }: Seen): void {
  if (fleet.cluster.state === 'absent') throw noneYet(fleet, inventory.name);
}

/** A cluster whose API answers. */
export interface SeenLive extends Seen {
  readonly cluster: ClusterUp;
}

/** Why a command that needs the live cluster cannot begin: there is none, or it does not answer. undefined: it can. */
export function notLive({ inventory: { name }, fleet }: Seen): KbuildError | undefined {
  const { cluster } = fleet;
  if (cluster.state === 'up') return undefined;
  if (cluster.state === 'absent') return noneYet(fleet, name);
  return new Refused(
    'cluster-down',
    name,
    `the cluster does not answer: ${cluster.reason}`,
    'bring it back first: `kbuild status` shows what is down; if its certificates have expired, `kbuild certs recover`',
  );
}

/** What the reasons refuse of the live cluster; that there is none, or that it does not answer, stands alone. */
export function refusedOfLive<S extends Seen>(
  reasons: readonly Reason<S & SeenLive>[],
  seen: S,
): readonly KbuildError[] {
  const { cluster } = seen.fleet;
  return cluster.state === 'up' ? refusedFor(reasons, { ...seen, cluster }) : [notLive(seen)!];
}

/**
 * The live cluster. @throws Refused if there is none; the errors of control planes that were not reached; FactError if
 * it does not answer.
 */
export function liveCluster(fleet: Fleet): ClusterUp {
  const { cluster } = fleet;
  switch (cluster.state) {
    case 'up':
      return cluster;
    case 'absent':
      throw noneYet(fleet, 'cluster');
    case 'down':
      throw new FactError('cluster', 'its state', cluster.reason);
  }
}

/**
 * The control plane on which kbuild runs commands for the cluster: the first whose API answered. If that host itself
 * leaves (`except`), another whose API server is ready. Throws like `liveCluster`, and Refused if there is no other.
 */
export function acting(fleet: Fleet, except?: string): LinuxHost {
  const { via, apiServers } = liveCluster(fleet);
  const names = via === except ? [...apiServers].flatMap(([name, said]) => (said === 'ok' ? [name] : [])) : [via];
  const found = observedLinux(fleet).find(({ host }) => host.name !== except && names.includes(host.name));
  if (found !== undefined) return found.host;
  if (via !== except) throw new Error(`the cluster was seen through ${via}, which was not observed`);
  throw new Refused('no-other-api-server', 'cluster', `no other API server than that of ${via} is ready`);
}

/** An upgrade that has reached only some of the API servers. */
export const halfUpgraded: Reason<Seen> = reason(
  ['upgrade-unfinished'],
  ({ inventory, fleet: { cluster } }) =>
    cluster.state === 'up' &&
    isMixed(cluster) &&
    new Refused(
      'upgrade-unfinished',
      inventory.name,
      `an upgrade is half done (${apiVersionsText(cluster)})`,
      'finish it first: `kbuild upgrade`',
    ),
);

/**
 * Nodes that a change would cut off, because kbuild cannot make it on them. `change`: what it cannot do to a Windows
 * node. `when`: when they lose the cluster. A host that has yet to join is not cut off.
 */
export function cutOff(
  { inventory, fleet: { cluster } }: Seen,
  change: string,
  when = '',
): readonly Refused<'windows-node-cut-off' | 'unnamed-node'>[] {
  const named = new Set(inventory.hosts.map(({ name }) => name));
  const nodes = cluster.state === 'up' ? cluster.nodes.map(({ name }) => name) : undefined;
  const windows = windowsHosts(inventory).map(({ name }) => name);
  return [
    ...windows
      .filter((name) => nodes?.includes(name) !== false)
      .map(
        (name) =>
          new Refused(
            'windows-node-cut-off',
            name,
            `kbuild cannot ${change} yet, and the node would be cut off${when}`,
            `take the node out of the cluster (\`kbuild remove ${name}\`), and join it again afterwards`,
          ),
      ),
    ...(nodes ?? [])
      .filter((name) => !named.has(name))
      .map(
        (name) =>
          new Refused(
            'unnamed-node',
            name,
            `the inventory does not name this node of the cluster, which would be cut off${when}`,
            `name it in the inventory, or take it out with \`kbuild remove ${name}\``,
          ),
      ),
  ];
}
