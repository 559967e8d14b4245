/**
 * The kubelet of a simulated Windows host: a real Node of a real cluster, with heartbeats, and pods that are said to run.
 * No container ever runs here. What a pod does to its host is for `world` to model.
 */
import { apiOf, ApiError, type Api, type ApiAccess } from './api.ts';
import { nodeObject, statusOf, type NodeFacts } from './node.ts';
import { gone, podStatus, type Pod } from './pods.ts';

/** What a pod meets on its host. */
export interface PodWorld {
  /** Why the network of pods is not up yet; undefined when it is. */
  readonly networkProblem: () => string | undefined;
  /** Why an image cannot be had; undefined when it can. */
  readonly imageProblem?: (image: string) => string | undefined;
  /** Called once for every pod that begins to run: what HostProcess containers do to their host. Throws: it crashed. */
  readonly podRuns?: (pod: Pod) => Promise<void> | void;
}

/** A kubelet that runs. */
export interface SimulatedKubelet {
  /** Resolves when its node stands in the cluster. Rejects with why it could not, when it stopped before. */
  readonly registered: Promise<void>;
  /** What went wrong lately, newest last. */
  readonly log: readonly string[];
  /** Ends it as `Stop-Service` does: the node stays, and grows NotReady by itself. */
  stop(): Promise<void>;
}

const HEARTBEAT_MS = 5_000;
const LOOK_MS = 500;
const LEASE_SECONDS = 40;

interface Options {
  readonly access: Omit<ApiAccess, 'token'>;
  readonly facts: NodeFacts;
  readonly world: PodWorld;
}

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });

const is = (error: unknown, status: number): boolean => error instanceof ApiError && error.status === status;

async function registerNode(api: Api, facts: NodeFacts, problem: string | undefined): Promise<void> {
  try {
    await api.create('/api/v1/nodes', nodeObject(facts));
  } catch (error) {
    if (!is(error, 409)) throw error;
  }
  await api.patch(`/api/v1/nodes/${facts.name}/status`, { status: statusOf(facts, problem, new Date()) });
}

async function renewLease(api: Api, name: string): Promise<void> {
  const path = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
  const spec = {
    holderIdentity: name,
    leaseDurationSeconds: LEASE_SECONDS,
    renewTime: new Date().toISOString().replace(/Z$/, '000Z'),
  };
  try {
    await api.patch(`${path}/${name}`, { spec });
  } catch (error) {
    if (!is(error, 404)) throw error;
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec };
    await api.create(path, lease);
  }
}

/** One look at the pods of the node: what is new begins to run, what shall end is gone. */
async function syncPods(api: Api, { facts, world }: Options, began: Set<string>): Promise<void> {
  const { items } = (await api.get(`/api/v1/pods?fieldSelector=spec.nodeName%3D${facts.name}`)) as {
    items: readonly Pod[];
  };
  for (const pod of items) {
    const path = `/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}`;
    if (pod.metadata.deletionTimestamp !== undefined) {
      await api.delete(path, gone(pod));
      began.delete(pod.metadata.uid);
      continue;
    }
    let problem = imageProblem(pod, world) ?? (pod.spec.hostNetwork === true ? undefined : world.networkProblem());
    if (problem === undefined && !began.has(pod.metadata.uid)) {
      try {
        await world.podRuns?.(pod);
        began.add(pod.metadata.uid);
      } catch (error) {
        problem = `CrashLoopBackOff: ${(error as Error).message}`;
      }
    }
    const status = podStatus(pod, facts, problem, new Date());
    if (status !== undefined) await api.patch(`${path}/status`, { metadata: { uid: pod.metadata.uid }, status });
  }
}

function imageProblem({ spec }: Pod, { imageProblem: ask }: PodWorld): string | undefined {
  for (const { image } of [...(spec.initContainers ?? []), ...spec.containers]) {
    const problem = ask?.(image);
    if (problem !== undefined) return `ImagePullBackOff: ${problem}`;
  }
  return undefined;
}

/** Starts a kubelet: it registers its node, sends heartbeats and says that its pods run, until it is stopped. */
export function startKubelet(options: Options): SimulatedKubelet {
  const { facts, world } = options;
  const api = apiOf(options.access);
  const ending = new AbortController();
  const log: string[] = [];
  const began = new Set<string>();
  const note = (error: unknown): void => {
    log.push(error instanceof Error ? error.message : String(error));
    if (log.length > 50) log.shift();
  };
  let known = (): void => undefined;
  let failed = (_: Error): void => undefined;
  const registered = new Promise<void>((resolve, reject) => {
    known = resolve;
    failed = reject;
  });
  // The caller may not wait for it.
  registered.catch(() => undefined);

  const run = async (): Promise<void> => {
    let heartbeat = 0;
    let said: string | undefined;
    while (!ending.signal.aborted) {
      try {
        const problem = world.networkProblem();
        if (Date.now() - heartbeat >= HEARTBEAT_MS || problem !== said) {
          await registerNode(api, facts, problem);
          await renewLease(api, facts.name);
          heartbeat = Date.now();
          said = problem;
          known();
        }
        await syncPods(api, options, began);
      } catch (error) {
        // The next look may do better: the API server restarts, the node was deleted under it.
        note(error);
        heartbeat = 0;
      }
      await sleep(LOOK_MS, ending.signal);
    }
    failed(new Error(`the kubelet was stopped: ${log.at(-1) ?? 'nothing was wrong'}`));
  };
  const running = run();
  return {
    registered,
    log,
    stop: async () => {
      ending.abort();
      await running;
    },
  };
}
