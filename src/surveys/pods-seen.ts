import { itemsOf, objectsOf, textIn, within, type JsonObject } from '../shell/decode.ts';
import { until } from '../until.ts';

/** A pod as the API shows it. */
export interface PodSeen {
  readonly name: string;
  readonly node: string;
  readonly ip: string;
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
  const ready = objectsOf(status['conditions']).some((one) => one['type'] === 'Ready' && one['status'] === 'True');
  return {
    name: textIn(within(item, 'metadata')['name']),
    node: textIn(within(item, 'spec')['nodeName'], ''),
    ip: textIn(status['podIP'], ''),
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

/** Waits until every pod is ready or the time is over, and returns all pods. @throws the signal's reason if it was aborted */
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
