import { type Fleet, observedLinux } from '../cluster/fleet/fleet.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { Refused } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { docsPage } from '../versions.ts';
import { keyId } from './certificates.facts.ts';
import { type Direction, endOf, type Rotation } from './rotation.ts';
import type { TokenPod, TokenSecret } from './token-use.facts.ts';

/** The difference between hosts' clocks that the check `clock-skew` allows, in ms. */
const CLOCKS_MS = 30_000;

const DAY_MS = 24 * 60 * 60_000;

/** A kubelet renews a token when 80 % of its life are over, or after a day (`pkg/kubelet/token/token_manager.go`). */
const RENEWED_AT = 0.8;

/**
 * Time in ms for a kubelet to write the new token to a pod's file, and for a client to read it: both check about once a
 * minute.
 */
const GRACE_MS = 5 * 60_000;

/** How a rotation of the key of service accounts treats tokens. */
interface TokenRotation {
  readonly direction: Direction;
  readonly workloads: 'restart' | 'leave';
  /** `refuse`: stop the rotation if Secrets have tokens of the key that it removes. */
  readonly secretTokens: 'refuse' | 'leave';
}

/**
 * Since when no control plane signs with the key that the rotation removes: ms since the epoch, later by the greatest
 * difference of clocks that kbuild allows. undefined: no control plane has changed its key. Call it only after all
 * control planes sign with the remaining key.
 */
export function signsAloneSince(fleet: Fleet, rotation: Rotation, direction: Direction): number | undefined {
  const { survivor } = endOf(rotation, direction);
  const signed = observedLinux(fleet)
    .map(({ facts }) => facts.authorities.files.sa)
    .filter(({ beside }) => beside.signing?.fingerprint === survivor.fingerprint);
  return signed.length === 0 ? undefined : Math.max(...signed.map(({ signingMs }) => signingMs)) + CLOCKS_MS;
}

/** Pods that may still use a token from the time before only the remaining key signed. */
const podsFromBefore = ({ tokenUse }: ClusterUp, sinceMs: number | undefined): readonly TokenPod[] =>
  sinceMs === undefined ? [] : tokenUse.pods.filter(({ startedMs }) => startedMs <= sinceMs);

/**
 * Time, ms since the epoch, by which the kubelet has certainly given a pod a token of the key that is the only signer
 * since `sinceMs`.
 */
const renewedMs = ({ lifetimeMs }: TokenPod, sinceMs: number): number =>
  sinceMs + Math.min(RENEWED_AT * lifetimeMs, DAY_MS) + GRACE_MS;

/**
 * Secrets with tokens of the key that the rotation removes. A token that does not name its key is older than tokens
 * that do.
 */
export function secretsOf(
  { tokenUse }: ClusterUp,
  rotation: Rotation | undefined,
  direction: Direction,
): readonly TokenSecret[] {
  // Before it begins, every token is of the old key.
  if (rotation === undefined) return direction === 'forward' ? tokenUse.secrets : [];
  const goes = keyId(endOf(rotation, direction).loser);
  return tokenUse.secrets.filter((secret) => secret.keyId === goes || (secret.keyId === '' && direction === 'forward'));
}

/** Maximum number of objects that a message names. For more it gives the number. */
const NAMED = 20;

/** Objects by `namespace/name`. */
export function namedObjects(all: readonly { readonly namespace: string; readonly name: string }[]): string {
  const shown = all.slice(0, NAMED).map(({ namespace, name }) => `${namespace}/${name}`);
  return `${shown.join(', ')}${all.length > NAMED ? ` and ${String(all.length - NAMED)} more` : ''}`;
}

const minute = (ms: number): string => `${new Date(Math.ceil(ms / 60_000) * 60_000).toISOString().slice(0, 16)}Z`;

/** Pods that may use an old token, by what the run does about them. */
export function podsLeft(
  up: ClusterUp,
  sinceMs: number | undefined,
  { workloads }: Pick<TokenRotation, 'workloads'>,
): { readonly toRestart: readonly TokenPod[]; readonly left: readonly TokenPod[] } {
  const pods = podsFromBefore(up, sinceMs);
  const restarts = ({ workload }: TokenPod): boolean => workloads === 'restart' && workload !== 'none';
  return { toRestart: pods.filter(restarts), left: pods.filter((pod) => !restarts(pod)) };
}

/**
 * The reasons why the rotation may not remove the key yet: a pod or Secret may still use a token that it signed. Empty
 * if none does.
 */
export function tokensStillUsed(
  { name: cluster }: Pick<Inventory, 'name'>,
  fleet: Fleet,
  rotation: Rotation,
  about: TokenRotation,
): readonly Refused[] {
  const { cluster: up } = fleet;
  if (up.state !== 'up') return [];
  const { direction, secretTokens } = about;
  const { loser, survivor } = endOf(rotation, direction);
  const sinceMs = signsAloneSince(fleet, rotation, direction);
  const secrets = secretTokens === 'leave' ? [] : secretsOf(up, rotation, direction);
  const { toRestart, left } = podsLeft(up, sinceMs, about);
  const endsMs = (pod: TokenPod): number => renewedMs(pod, sinceMs ?? 0);
  const waits = left.filter((pod) => endsMs(pod) > up.nowMs);
  const refused = (what: string, way: string): Refused => new Refused('tokens-in-use', cluster, what, way);
  return [
    ...(secrets.length === 0
      ? []
      : [
          refused(
            `Secrets hold tokens of ${loser.subject}, which the API would no longer accept: ${namedObjects(secrets)}`,
            `have each signed again and give the new tokens to their users, see ` +
              `${docsPage('operations.md#the-key-of-service-accounts')}; --leave-tokens goes on without that`,
          ),
        ]),
    ...(toRestart.length === 0
      ? []
      : [
          refused(
            `pods have tokens from before ${survivor.subject} signed: ${namedObjects(toRestart)}`,
            'run the same command again: it restarts their workloads first',
          ),
        ]),
    ...(waits.length === 0
      ? []
      : [
          refused(
            `pods that this run does not restart may have tokens of ${loser.subject} until their kubelets renew ` +
              `them: ${namedObjects(waits)}`,
            `restart them, or run the same command again after ${minute(Math.max(...waits.map(endsMs)))}`,
          ),
        ]),
  ];
}
