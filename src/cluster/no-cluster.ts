import { SeveralErrors, type KbuildError, type Refused } from '../errors.ts';
import type { Fleet } from '../facts/fleet.ts';

/**
 * The error where no cluster was found. A control plane that was not reached may hold one: then its error, which says more, and not
 * `none`, whose remedy would build a second cluster. A host that `--dead` names is gone by the operator's word.
 */
export function noCluster({ unreachable }: Pick<Fleet, 'unreachable'>, none: Refused): KbuildError {
  const missing = unreachable.filter(({ host, isDead }) => host.role === 'control-plane' && isDead !== true);
  if (missing.length === 0) return none;
  const names = missing.map(({ host }) => host.name).join(', ');
  return new SeveralErrors(
    missing.map(({ error }) => error),
    {
      remedy: `make ${names} reachable and run the same command again: whether there is a cluster is not known until then`,
    },
  );
}
