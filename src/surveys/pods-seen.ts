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

interface RawPod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly podIP?: string;
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
    readonly containerStatuses?: readonly {
      readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } };
    }[];
  };
}

const withMessage = (reason: string, message: string | undefined): string =>
  message === undefined ? reason : `${reason}: ${message}`;

function seen({ metadata, spec, status }: RawPod): PodSeen {
  const condition = (type: string) => status.conditions?.find((one) => one.type === type);
  const ready = condition('Ready')?.status === 'True';
  const waiting = status.containerStatuses?.map(({ state }) => state?.waiting).find((one) => one !== undefined);
  const scheduling = condition('PodScheduled');
  const why = (): string => {
    if (scheduling?.status === 'False') return scheduling.message ?? 'not scheduled';
    if (status.phase === 'Failed') return withMessage(status.reason ?? 'failed', status.message);
    if (waiting !== undefined) return withMessage(waiting.reason ?? 'waiting', waiting.message);
    return status.containerStatuses === undefined ? 'its kubelet has not begun' : 'its server does not answer';
  };
  return {
    name: metadata.name,
    node: spec.nodeName ?? '',
    ip: status.podIP ?? '',
    ready,
    reason: ready ? '' : why(),
  };
}

/** Reads the pods from the output of `kubectl get pods -o json`. Throws on anything else. */
export const podsSeen = (out: string): readonly PodSeen[] =>
  (JSON.parse(out) as { readonly items: readonly RawPod[] }).items.map(seen);

interface RawEvent {
  readonly type?: string;
  readonly message?: string;
  readonly involvedObject: { readonly kind?: string; readonly name?: string };
}

/** Reads the last warning about each pod from the output of `kubectl get events -o json`. Throws on anything else. */
export function podWarnings(out: string): ReadonlyMap<string, string> {
  const { items } = JSON.parse(out) as { readonly items: readonly RawEvent[] };
  return new Map(
    items.flatMap(({ type, message, involvedObject: { kind, name } }) =>
      type === 'Warning' && kind === 'Pod' && name !== undefined && message !== undefined
        ? [[name, message.split('\n')[0]!] as const]
        : [],
    ),
  );
}

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
