import { FactError, hasRemedy, type KbuildError, Refused, SeveralErrors } from '../errors.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { type Fleet, observedLinux } from './fleet/fleet.ts';
import type { ClusterUp } from './fleet/view.ts';

/**
 * The error where no cluster was found. A control plane that was not reached may hold one: then its error, which says
 * more, and not `none`, whose remedy would build a second cluster. A host that `--dead` names is gone by the operator's
 * word.
 */
export function noCluster({ unreachable }: Pick<Fleet, 'unreachable'>, none: KbuildError): KbuildError {
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
          remedy: `make ${names} reachable and run the same command again: whether there is a cluster is not known until then`,
        },
  );
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
      throw noCluster(
        fleet,
        new Refused('no-cluster', 'cluster', 'there is no cluster yet', 'run `kbuild up` for its control plane first'),
      );
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
