import type { NodeFacts } from './node.ts';

interface Container {
  readonly name: string;
  readonly image: string;
}

/** A pod as the kubelet reads it. */
export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly hostNetwork?: boolean;
    readonly containers: readonly (Container & { readonly env?: readonly { name: string; value?: string }[] })[];
    readonly initContainers?: readonly Container[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly state?: { readonly waiting?: { readonly message?: string } } }[];
  };
}

/** The body of the deletion that ends a pod which shall go. */
export const gone = ({ metadata }: Pod): object => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  gracePeriodSeconds: 0,
  preconditions: { uid: metadata.uid },
});

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true;

/** What the pod's status becomes; undefined when it is that already. `problem`: why it does not run, `Reason: message`. */
export function podStatus(pod: Pod, facts: NodeFacts, problem: string | undefined, now: Date): object | undefined {
  const time = `${now.toISOString().slice(0, 19)}Z`;
  const [reason = '', message = ''] = problem === undefined ? [] : splitOnce(problem);
  if (problem === undefined ? isReady(pod) : pod.status?.containerStatuses?.[0]?.state?.waiting?.message === message)
    return undefined;
  const condition = (type: string, yes: boolean): object => ({
    type,
    status: yes ? 'True' : 'False',
    lastTransitionTime: time,
  });
  const ready = problem === undefined;
  return {
    phase: ready ? 'Running' : 'Pending',
    hostIP: facts.address,
    hostIPs: [{ ip: facts.address }],
    ...(ready && pod.spec.hostNetwork === true ? { podIP: facts.address, podIPs: [{ ip: facts.address }] } : {}),
    startTime: time,
    conditions: [
      condition('PodScheduled', true),
      condition('Initialized', ready),
      condition('ContainersReady', ready),
      condition('Ready', ready),
    ],
    containerStatuses: pod.spec.containers.map(({ name, image }) => ({
      name,
      image,
      imageID: '',
      ready,
      started: ready,
      restartCount: 0,
      state: ready ? { running: { startedAt: time } } : { waiting: { reason, message } },
    })),
  };
}

function splitOnce(text: string): readonly [string, string] {
  const at = text.indexOf(': ');
  return at === -1 ? ['ContainerCreating', text] : [text.slice(0, at), text.slice(at + 2)];
}
