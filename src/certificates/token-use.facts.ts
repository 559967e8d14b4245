import { objectOf, textIn } from '../shell/decode.ts';
import { lines, timeOf } from '../shell/probe.ts';

/** What `kubectl rollout restart` can restart. A ReplicaSet's name is its Deployment's and a hash. */
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
  /** What restarts it, as `kind/name` of kubectl; `none` for a pod that nothing replaces. */
  readonly workload: string;
  /**
   * When its kubelet accepted it, before it asked for the token: ms since the epoch by the node's clock; Infinity: not
   * yet.
   */
  readonly startedMs: number;
  /** How long the longest-lived of its tokens is asked for, in ms. */
  readonly lifetimeMs: number;
}

/** A Secret of the type kubernetes.io/service-account-token: its token never ends, and nothing renews it. */
export interface TokenSecret {
  readonly namespace: string;
  readonly name: string;
  /** The id of the key that signed the token, as `keyId` gives it; empty if the token does not say. */
  readonly keyId: string;
}

/** Who holds service account tokens of the cluster, as far as its API shows. */
export interface TokenUse {
  readonly pods: readonly TokenPod[];
  readonly secrets: readonly TokenSecret[];
}

/**
 * What the admission of service accounts asks for (`plugin/pkg/admission/serviceaccount`), and what a projection
 * without a time gets, in seconds.
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
