import { standing } from '../cluster/standing.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import type { AuthorityCertificate } from './certificates.facts.ts';
import { PLACED_SETTLE_MS, placementRestarts, placing } from './place-authority.step.ts';
import { nounOf, planned, type Rotating, underWay } from './rotation.step.ts';
import { endOf, isDropping, isSigning, notTrusting, type Rotation, signedBy, trusts } from './rotation.ts';
import { notSigningTokens } from './service-account-key.step.ts';

const WATCHES = { units: ['kubelet'] } as const;

const isNode = (target: Target): boolean =>
  (target.host.role === 'control-plane' || target.host.role === 'worker') && standing(target) === 'joined';

/**
 * True if a kubeconfig of the host trusts only one of the two: kubeadm wrote it when the host joined during the
 * rotation.
 */
const hasBlindKubeconfig = ({ facts }: Target, { old, fresh }: Rotation): boolean =>
  [...facts.authorities.kubeconfigs.values()].some(
    (known) => known.length > 0 && [old, fresh].some((one) => !trusts({ bundle: known }, one)),
  );

/** Lets a host trust both authorities. The old one comes first, so that kubeadm still signs with it. */
export const bothTrusted = (rotating: Rotating): Step => ({
  name: 'both-trusted',
  settleMs: PLACED_SETTLE_MS,
  watches: WATCHES,
  needs: 'whole-control-plane',
  diff: (target) => {
    const { host, facts, fleet } = target;
    const { name, direction } = rotating;
    if (direction === 'back' || !isNode(target)) return [];
    const why = `have ${host.name} trust the new ${nounOf(name)} beside the old one`;
    const rotation = underWay(target, rotating);
    // The first control plane makes the authority when this step has been planned.
    if (rotation === undefined) return [{ summary: why, disrupts: true, restarts: placementRestarts(target, name) }];
    if (isDropping(fleet, name, rotation)) return [];
    const files = facts.authorities.files[name];
    const hasBoth = trusts(files, rotation.old) && trusts(files, rotation.fresh);
    const isBlind = name === 'ca' && hasBlindKubeconfig(target, rotation);
    if (hasBoth && !isBlind && isSigning(fleet, name, rotation)) return [];
    return placing(target, name, { bundle: hasBoth ? files.bundle : [rotation.old, rotation.fresh], why });
  },
});

/** The CAs that the cluster publishes to joining hosts and pods while both authorities are trusted. */
export const bothCas =
  (rotating: Rotating) =>
  (target: Target<'cluster'>): readonly AuthorityCertificate[] | 'later' | 'nothing' => {
    if (rotating.direction === 'back') return 'nothing';
    const rotation = underWay(target, rotating);
    if (rotation === undefined) return 'later';
    return isDropping(target.fleet, rotating.name, rotation) ? 'nothing' : [rotation.old, rotation.fresh];
  };

/** @throws Refused while a host would lose its connection without the authority that the rotation removes */
function refuseTooEarly({ fleet }: Target, { name, direction }: Rotating, rotation: Rotation): void {
  const { survivor, loser } = endOf(rotation, direction);
  const signed = signedBy(fleet, loser);
  const blind = notTrusting(fleet, name, survivor);
  const others = name === 'sa' ? notSigningTokens(fleet, rotation, direction) : [];
  if (others.length > 0)
    throw new Refused(
      'rotation-order',
      others.join(', '),
      `${loser.subject} cannot go yet: tokens may still be signed with it here`,
      'run the same command again: it completes the earlier steps first',
    );
  if (signed.length === 0 && blind.length === 0) return;
  throw new Refused(
    'rotation-order',
    [...new Set([...signed.map((one) => one.split(':')[0]!), ...blind])].join(', '),
    `${loser.subject} cannot go yet: ${[
      ...(signed.length === 0 ? [] : [`it has signed ${signed.join(', ')}`]),
      ...(blind.length === 0 ? [] : [`${blind.join(', ')} does not trust ${survivor.subject}`]),
    ].join('; ')}`,
    'run the same command again: it completes the earlier steps first',
  );
}

/** Lets a host trust only the authority that remains. */
export const loserGone = (rotating: Rotating): Step => ({
  name: 'only-one-trusted',
  settleMs: PLACED_SETTLE_MS,
  watches: WATCHES,
  needs: 'whole-control-plane',
  diff: (target) => {
    const { host } = target;
    const { name, direction } = rotating;
    if (!isNode(target)) return [];
    const rotation = underWay(target, rotating);
    if (rotation === undefined)
      return planned(rotating, `have ${host.name} trust the new ${nounOf(name)} alone`, {
        disrupts: true,
        restarts: placementRestarts(target, name),
      });
    const { survivor, loser } = endOf(rotation, direction);
    return placing(target, name, {
      bundle: [survivor],
      why: `have ${host.name} trust ${survivor.subject} alone as ${name === 'sa' ? nounOf(name) : name}`,
      withdrawn: [loser.subject],
      before: () => {
        refuseTooEarly(target, rotating, rotation);
        return Promise.resolve();
      },
    });
  },
});

/** The CAs that the cluster publishes to joining hosts and pods at the end of a rotation. */
export const survivingCas =
  (rotating: Rotating) =>
  (target: Target<'cluster'>): readonly AuthorityCertificate[] | 'later' | 'nothing' => {
    const rotation = underWay(target, rotating);
    if (rotation !== undefined) return [endOf(rotation, rotating.direction).survivor];
    return rotating.when === 'planned' && rotating.direction === 'forward' ? 'later' : 'nothing';
  };
