import { itemsOf, type JsonObject, objectsOf, textIn, textsOf, within } from '../shell/decode.ts';
import { sh } from '../shell/sh.ts';
import type { Held, Remote } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { until } from '../wait.ts';

/** A pod as the API shows it. */
export interface PodSeen {
  readonly name: string;
  readonly node: string;
  readonly ip: string;
  /** Of a pod with addresses of both families. */
  readonly secondIp?: string;
  readonly ready: boolean;
  /** Why it is not ready; empty if it is ready. */
  readonly reason: string;
}

const withMessage = (reason: string, message: string): string => (message === '' ? reason : `${reason}: ${message}`);

/** Why a pod is not ready. */
function whyNot(status: JsonObject): string {
  const { phase, reason, message, containerStatuses } = status;
  const scheduling = objectsOf(status['conditions']).find(({ type }) => type === 'PodScheduled');
  if (scheduling?.['status'] === 'False') return textIn(scheduling['message'], 'not scheduled');
  if (phase === 'Failed') return withMessage(textIn(reason, 'failed'), textIn(message, ''));
  const waiting = objectsOf(containerStatuses)
    .map((container) => within(container, 'state')['waiting'])
    .find((state) => state !== undefined);
  if (waiting !== undefined) {
    const why = within(waiting);
    return withMessage(textIn(why['reason'], 'waiting'), textIn(why['message'], ''));
  }
  return containerStatuses === undefined ? 'its kubelet has not begun' : 'its server does not answer';
}

function seen(item: JsonObject): PodSeen {
  const status = within(item, 'status');
  const second = objectsOf(status['podIPs'])[1];
  const ready = objectsOf(status['conditions']).some((one) => one['type'] === 'Ready' && one['status'] === 'True');
  return {
    name: textIn(within(item, 'metadata')['name']),
    node: textIn(within(item, 'spec')['nodeName'], ''),
    ip: textIn(status['podIP'], ''),
    ...(second === undefined ? {} : { secondIp: textIn(second['ip']) }),
    ready,
    reason: ready ? '' : whyNot(status),
  };
}

/** Reads the pods from the output of `kubectl get pods -o json`. Throws on anything else. */
export const podsSeen = (out: string): readonly PodSeen[] => itemsOf(out).map(seen);

/** Reads the last warning about each pod from the output of `kubectl get events -o json`. Throws on anything else. */
export const podWarnings = (out: string): ReadonlyMap<string, string> =>
  new Map(
    itemsOf(out).flatMap((event) => {
      const { kind, name } = within(event, 'involvedObject');
      const message = textIn(event['message'], '');
      const isMeant = event['type'] === 'Warning' && kind === 'Pod' && name !== undefined && message !== '';
      return isMeant ? [[textIn(name), message.split('\n')[0]!] as const] : [];
    }),
  );

/** How kbuild waits for pods. */
export interface PodWait {
  /** Limit in ms for all pods to become ready. */
  readonly startMs: number;
  readonly nowMs: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
}

const OBSERVE_MS = 1000;

/**
 * Waits until every pod is ready or the time is over, and returns all pods. @throws the signal's reason if it was
 * aborted
 */
export async function podsStarted(
  observe: () => Promise<readonly PodSeen[]>,
  { startMs, nowMs, sleep, say, signal }: PodWait,
): Promise<readonly PodSeen[]> {
  const deadline = nowMs() + startMs;
  let waiting = '';
  const settled = async () => {
    const pods = await observe();
    signal.throwIfAborted();
    const late = pods.filter(({ ready }) => !ready);
    if (late.length === 0 || nowMs() >= deadline) return pods;
    const text = late.map(({ name, reason }) => `${name} (${reason})`).join(', ');
    if (text !== waiting) say(`waiting for ${text}`);
    waiting = text;
    return undefined;
  };
  return (await until(settled, Infinity, { pause: sleep, nowMs, everyMs: OBSERVE_MS }))!;
}

/** A namespace for the pods of a survey, with kubectl on one control plane. */
export interface PodSpace {
  readonly namespace: string;
  /**
   * Creates the namespace. The control plane deletes it when this program ends. Deletes expired namespaces of other
   * runs.
   */
  begin(): Promise<void>;
  /** Deletes the namespace and waits until it is gone. */
  end(): Promise<void>;
  apply(objects: readonly JsonObject[]): Promise<void>;
  pods(): Promise<readonly PodSeen[]>;
  /** The last warning about each pod. */
  warnings(): Promise<ReadonlyMap<string, string>>;
  /**
   * Runs a command in a pod's container `web`, and returns its output. @throws CommandError on failure or after two
   * minutes
   */
  exec(pod: string, command: readonly string[]): Promise<string>;
}

/** The container of every pod in which a survey runs commands. */
export const CONTAINER = 'web';

/** Label of the namespaces of surveys. */
const SPACE_LABEL = 'kbuild.dev/tries';
/**
 * Annotation of a survey's namespace: the time at which it expires, in seconds since the epoch by the control plane's
 * clock.
 */
const SPACE_UNTIL = 'kbuild.dev/until';

/** Reads the names of expired namespaces from the seconds since the epoch and a JSON list, which one command prints. */
export function expired(out: string): readonly string[] {
  const end = out.indexOf('\n');
  const now = Number(out.slice(0, end));
  return itemsOf(out.slice(end)).flatMap((item) => {
    const { name, annotations } = within(item, 'metadata');
    const until = Number(textsOf(annotations)[SPACE_UNTIL] ?? '0');
    return until < now && within(item, 'status')['phase'] !== 'Terminating' ? [textIn(name)] : [];
  });
}

interface PodSpaceOptions {
  readonly kubectl: readonly string[];
  readonly remote: Pick<Remote<'sh'>, 'run' | 'hold'>;
  readonly namespace: string;
  /** The Pod Security Standard that the namespace enforces, whatever the cluster's default is. */
  readonly security: 'restricted' | 'privileged';
  /** Maximum lifetime in seconds. */
  readonly lifeSeconds: number;
}

/** A namespace for pods; `begin` creates it. */
export function podSpace({ kubectl, remote, namespace, security, lifeSeconds }: PodSpaceOptions): PodSpace {
  const tool = [...kubectl, '--request-timeout=30s'];
  const inside = ['-n', namespace];
  let held: Held | undefined;
  return {
    namespace,
    begin: async () => {
      const out = await remote.run(sh`date +%s; ${tool} get namespaces -l ${SPACE_LABEL} -o json`);
      const old = expired(out);
      if (old.length > 0) await remote.run(sh`${tool} delete namespace ${old} --ignore-not-found --wait=false`);
      const until = Number(out.split('\n')[0]) + lifeSeconds;
      const object = {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: {
          name: namespace,
          labels: { [SPACE_LABEL]: 'pods', 'pod-security.kubernetes.io/enforce': security },
          annotations: { [SPACE_UNTIL]: String(until) },
        },
      };
      held = await remote.hold(
        script('network/pod-namespace.sh', {
          KUBECTL: tool.join(' '),
          NAMESPACE: namespace,
          OBJECT: JSON.stringify(object),
          LIFE: lifeSeconds,
        }),
      );
    },
    end: async () => {
      try {
        await remote.run(sh`${kubectl} delete namespace ${namespace} --ignore-not-found --timeout=5m`);
      } finally {
        await held?.release();
      }
    },
    apply: async (objects) => {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      await remote.run(sh`printf %s ${list} | ${tool} ${inside} apply --validate=ignore -f -`);
    },
    pods: async () => podsSeen(await remote.run(sh`${tool} ${inside} get pods -o json`)),
    warnings: async () => podWarnings(await remote.run(sh`${tool} ${inside} get events -o json`)),
    exec: (pod, command) => remote.run(sh`timeout 120 ${kubectl} ${inside} exec ${pod} -c ${CONTAINER} -- ${command}`),
  };
}
