import { type Fleet, observedLinux } from '../cluster/fleet/fleet.ts';
import { standing } from '../cluster/standing.ts';
import { waitForApi } from '../engine/combinators.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step, Target } from '../engine/step.ts';
import { combined, Refused } from '../errors.ts';
import type { On } from '../ssh/remote.ts';
import { keyFiles, type KeySigner, placeServiceAccountKey } from './authority-files.ts';
import type { AuthorityFiles } from './certificates.facts.ts';
import { PLACED_SETTLE_MS } from './place-authority.step.ts';
import { planned, type Rotating, underWay } from './rotation.step.ts';
import { type Direction, endOf, isDropping, keyHash, notTrusting, type Rotation, trusts } from './rotation.ts';
import { namedObjects, podsLeft, secretsOf, signsAloneSince, tokensStillUsed } from './token-use.ts';

/**
 * True if a control plane signs tokens with the remaining key. If it ever signed with the other key, a job must have
 * proved that too.
 */
function signsTokens(fleet: Fleet, files: AuthorityFiles, rotation: Rotation, direction: Direction): boolean {
  const { survivor } = endOf(rotation, direction);
  const hash = keyHash(fleet, 'sa', direction === 'forward' ? 'fresh' : 'old');
  const { bundle, keys, beside } = files;
  const isFirst = bundle[0]?.fingerprint === survivor.fingerprint;
  const hasKey = hash === undefined || keys.current === hash;
  // Before a control plane changes its signing key for the first time, it records the key that it had.
  const isProved = beside.signing === undefined || beside.signing.fingerprint === survivor.fingerprint;
  return isFirst && hasKey && isProved;
}

/** Names of the control planes that may sign with the key that the rotation removes. */
export const notSigningTokens = (fleet: Fleet, rotation: Rotation, direction: Direction): readonly string[] =>
  observedLinux(fleet)
    .filter(({ host }) => host.role === 'control-plane')
    .filter(({ facts }) => !signsTokens(fleet, facts.authorities.files.sa, rotation, direction))
    .map(({ host }) => host.name);

async function sign(target: Target, { direction }: Rotating, rotation: Rotation, on: On): Promise<void> {
  const { inventory, host, facts, fleet } = target;
  const { survivor, loser } = endOf(rotation, direction);
  const blind = notTrusting(fleet, 'sa', survivor);
  if (blind.length > 0)
    throw new Refused(
      'rotation-order',
      blind.join(', '),
      `${survivor.subject} cannot sign yet: tokens that it signs are not accepted here`,
      'run the same command again: it completes the earlier steps first',
    );
  const { sa } = facts.authorities.files;
  const signer = direction === 'forward' ? 'fresh' : 'old';
  if (sa.keys[signer] === undefined)
    throw new Refused(
      'rotation-order',
      host.name,
      `it does not have the key of ${survivor.subject} yet`,
      'run the same command again: it completes the earlier steps first',
    );
  const signing: KeySigner = { signer, signs: survivor, signed: loser };
  const bundle = trusts(sa, loser) ? [survivor, loser] : [survivor];
  await on(host).job(
    'place-authority',
    placeServiceAccountKey(inventory, host, bundle, signing),
    keyFiles(bundle, signing),
  );
}

/**
 * Lets the API server and the controller manager of a control plane sign tokens with the remaining key. They read it
 * only at their start. The API server restarts first, because the controller manager gets its own tokens from it.
 */
export const serviceAccountSigns = (rotating: Rotating): Step => ({
  name: 'survivor-signs',
  settleMs: PLACED_SETTLE_MS,
  needs: 'whole-control-plane',
  diff: (target) => {
    const { host, facts, fleet } = target;
    const { direction } = rotating;
    if (host.role !== 'control-plane' || standing(target) !== 'joined') return [];
    const how = {
      disrupts: true,
      restarts: [
        { what: 'API server', hosts: [host.name], aboutMs: ABOUT_MS.apiServer },
        { what: 'controller manager', hosts: [host.name], aboutMs: ABOUT_MS.pod },
      ],
    } as const;
    const rotation = underWay(target, rotating);
    if (rotation === undefined)
      return planned(rotating, `sign service account tokens with the new key on ${host.name}`, how);
    if (direction === 'forward' && isDropping(fleet, 'sa', rotation)) return [];
    if (signsTokens(fleet, facts.authorities.files.sa, rotation, direction)) return [];
    const { survivor, loser } = endOf(rotation, direction);
    const summary =
      `sign service account tokens with ${survivor.subject} on ${host.name} (found that it signs, or has signed, ` +
      `with ${loser.subject})`;
    return [{ ...how, summary, apply: (on) => sign(target, rotating, rotation, on) }];
  },
});

/**
 * Checks that no pod or Secret uses a token of the key that the rotation removes: the last step before the API servers
 * reject such tokens. It changes nothing.
 */
export const tokensReplaced = (rotating: Rotating): Step<'cluster'> => ({
  name: 'tokens-replaced',
  diff: (target) => {
    const { inventory, facts, fleet } = target;
    const { direction, secretTokens, tokensBefore, when } = rotating;
    if (facts.state === 'absent') return [];
    if (facts.state === 'down') return [waitForApi(facts)];
    const rotation = underWay(target, rotating);
    if (rotation === undefined) {
      if (when !== 'planned' || direction === 'back') return [];
      const secrets = secretTokens === 'leave' ? [] : (tokensBefore?.secrets ?? []);
      const summary = 'see that nothing uses a token of the old key of service accounts';
      return [
        {
          summary:
            secrets.length === 0
              ? summary
              : `${summary} (found Secrets of the type kubernetes.io/service-account-token, which must be signed ` +
                `again before: ${namedObjects(secrets)})`,
        },
      ];
    }
    if (isDropping(fleet, 'sa', rotation)) return [];
    const sinceMs = signsAloneSince(fleet, rotation, direction);
    const used = secretTokens === 'leave' ? [] : secretsOf(facts, rotation, direction);
    const { toRestart, left } = podsLeft(facts, sinceMs, rotating);
    const refused = tokensStillUsed(inventory, fleet, rotation, rotating);
    if (refused.length === 0 || used.length + toRestart.length + left.length === 0) return [];
    return [
      {
        summary: `see that nothing uses a token of ${endOf(rotation, direction).loser.subject} (found ${[
          ...(used.length === 0 ? [] : [`Secrets ${namedObjects(used)}`]),
          ...(toRestart.length + left.length === 0 ? [] : [`pods ${namedObjects([...toRestart, ...left])}`]),
        ].join('; ')})`,
        apply: () => {
          throw combined(tokensStillUsed(inventory, fleet, rotation, rotating));
        },
      },
    ];
  },
});
