import { objectOf, textIn } from '../shell/decode.ts';
import { lines, timeOf } from '../shell/probe.ts';

/**
 * The workload that `kubectl rollout restart` can restart. The name of a ReplicaSet is its Deployment's name and a
 * hash.
 */
export function workloadOf(kind: string, name: string, hash: string): string {
  if (kind === 'DaemonSet' || kind === 'StatefulSet') return `${kind.toLowerCase()}/${name}`;
  if (kind === 'ReplicaSet' && hash !== '' && name.endsWith(`-${hash}`))
    return `deployment/${name.slice(0, -hash.length - 1)}`;
  return 'none';
}

/** A pod to which the kubelet gives a service account token. */
export interface TokenPod {
  readonly namespace: string;
  readonly name: string;
  /** The workload that replaces it, as kubectl's `kind/name`; `none` for a pod without one. */
  readonly workload: string;
  /**
   * When its kubelet accepted it, before it asked for the token: ms since the epoch by the node's clock; Infinity: not
   * yet.
   */
  readonly startedMs: number;
  /** The longest lifetime that the pod requests for one of its tokens, in ms. */
  readonly lifetimeMs: number;
}

/** A Secret of the type kubernetes.io/service-account-token: its token never ends, and nothing renews it. */
export interface TokenSecret {
  readonly namespace: string;
  readonly name: string;
  /** The id of the key that signed the token, as `keyId` gives it; empty if the token does not say. */
  readonly keyId: string;
}

/** The pods and Secrets that have service account tokens of the cluster, as far as its API shows. */
export interface TokenUse {
  readonly pods: readonly TokenPod[];
  readonly secrets: readonly TokenSecret[];
}

/**
 * Lifetime in seconds of a token that the admission of service accounts requests
 * (`plugin/pkg/admission/serviceaccount`), and of a projection without a lifetime.
 */
const DEFAULT_LIFETIME_S = 3607;

function keyIdIn(header: string): string {
  try {
    return textIn(objectOf(JSON.parse(Buffer.from(header, 'base64url').toString('utf8')))['kid'], '');
  } catch {
    return '';
  }
}

/**
 * The pods and Secrets that hold tokens, from the lines of the probe. Secrets without a token hold none. Throws on an
 * output without end.
 */
export function parseTokenUse(out: string): TokenUse {
  const rows = lines(out).map((line) => line.split('\t'));
  if (rows.at(-1)?.[0] !== 'end') throw new Error('the Secrets of service account tokens could not be read');
  return {
    pods: rows.flatMap(
      ([what, namespace = '', name = '', started = '', kind = '', owner = '', hash = '', lifetimes = '']) => {
        const seconds = lifetimes.split(' ').filter((one) => one !== '');
        if (what !== 'pod' || seconds.length === 0) return [];
        return [
          {
            namespace,
            name,
            workload: workloadOf(kind, owner, hash),
            startedMs: started === '' ? Infinity : timeOf(started),
            lifetimeMs: 1000 * Math.max(...seconds.map((one) => Number(one) || DEFAULT_LIFETIME_S)),
          },
        ];
      },
    ),
    secrets: rows.flatMap(([what, namespace = '', name = '', header = '']) =>
      what === 'secret' && header !== '' ? [{ namespace, name, keyId: keyIdIn(header) }] : [],
    ),
  };
}
