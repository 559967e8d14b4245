import type { JsonObject, Taint } from '../model/inventory.ts';
import { objectKey, type NodeCondition, type NodeView, type PodView } from './cluster.ts';
import { HASH_ANNOTATION } from './ownership.ts';
import { lineOf, lines, timeOf, unexpected, wordOf } from '../shell/probe.ts';
import { excerpt } from '../shell/text.ts';
import { itemsOf, objectOf, textIn, textsOf } from './decode.ts';

interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

interface RawNode {
  readonly metadata: Metadata;
  readonly spec: {
    readonly taints?: readonly (Taint & { readonly timeAdded?: string })[];
    readonly unschedulable?: boolean;
  };
  readonly status: {
    readonly conditions?: readonly Condition[];
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly nodeInfo: {
      readonly machineID?: string;
      readonly bootID?: string;
      readonly kubeletVersion: string;
      readonly osImage: string;
      readonly containerRuntimeVersion: string;
    };
  };
}

interface ContainerStatus {
  readonly restartCount: number;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: { readonly startedAt?: string };
    readonly terminated?: { readonly finishedAt?: string };
  };
  readonly lastState?: { readonly terminated?: { readonly finishedAt?: string } };
}

interface RawPod {
  readonly metadata: Metadata;
  readonly spec: { readonly nodeName?: string; readonly containers?: readonly { readonly image?: string }[] };
  readonly status: {
    readonly conditions?: readonly Condition[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

/** Reasons of a container that waits because it begins. */
const BEGINS: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing']);

/** Why the first container waits that waits for anything but its start. */
const troubleOf = ({ initContainerStatuses = [], containerStatuses = [] }: RawPod['status']): string =>
  [...initContainerStatuses, ...containerStatuses]
    .map(({ state }) => ({ reason: textIn(state?.waiting?.reason, ''), message: textIn(state?.waiting?.message, '') }))
    .filter(({ reason }) => !BEGINS.has(reason))
    .map(({ reason, message }) => (message === '' ? reason : `${reason}: ${message}`))[0] ?? '';

/** Conditions of the kubelet and of network plugins that are bad when they are true. */
const BAD_WHEN_TRUE: ReadonlySet<string> = new Set([
  'DiskPressure',
  'MemoryPressure',
  'PIDPressure',
  'NetworkUnavailable',
]);

/** The bad or unknown conditions of a node. Conditions of others (a node problem detector) have meanings that kbuild does not know. */
const badConditions = (conditions: readonly Condition[]): readonly NodeCondition[] =>
  conditions
    .map(({ type, status, reason, message }) => ({
      ...{ type: textIn(type), status: textIn(status) },
      ...{ reason: textIn(reason, ''), message: textIn(message, '') },
    }))
    .filter(
      ({ type, status }) => (type === 'Ready' && status !== 'True') || (BAD_WHEN_TRUE.has(type) && status !== 'False'),
    )
    .map(({ type, status, reason, message }) => ({
      type,
      status,
      reason: [reason, message].filter((text) => text !== '').join(': '),
    }));

const effectOf = wordOf('NoSchedule', 'PreferNoSchedule', 'NoExecute');

const taintOf = ({ key, value, effect }: Taint): Taint => ({
  key: textIn(key),
  ...(value === undefined ? {} : { value: textIn(value) }),
  effect: effectOf(textIn(effect)),
});

/** A NodeList as the API sends it. Throws on another. */
export const parseNodes = (out: string): readonly NodeView[] =>
  itemsOf(out).map((item) => {
    const { metadata, spec, status } = item as unknown as RawNode;
    const ready = status.conditions?.find(({ type }) => type === 'Ready');
    const labels = textsOf(metadata.labels);
    return {
      name: textIn(metadata.name),
      role: 'node-role.kubernetes.io/control-plane' in labels ? 'control-plane' : 'worker',
      ready: ready?.status === 'True',
      reason:
        ready?.status === 'True'
          ? ''
          : `${textIn(ready?.reason, 'its kubelet has not reported yet')}${ready?.message === undefined ? '' : `: ${textIn(ready.message)}`}`,
      conditions: badConditions(status.conditions ?? []),
      unschedulable: spec.unschedulable === true,
      cordonedAt: textIn(
        (spec.taints ?? []).find(({ key }) => key === 'node.kubernetes.io/unschedulable')?.timeAdded,
        '',
      ),
      kubeletVersion: excerpt(textIn(status.nodeInfo.kubeletVersion)).replace(/^v/, ''),
      os: excerpt(textIn(status.nodeInfo.osImage)),
      runtime: excerpt(textIn(status.nodeInfo.containerRuntimeVersion)),
      internalAddress: textIn(status.addresses?.find(({ type }) => type === 'InternalIP')?.address, ''),
      machineId: textIn(status.nodeInfo.machineID, ''),
      bootId: textIn(status.nodeInfo.bootID, ''),
      labels,
      annotations: textsOf(metadata.annotations),
      taints: (spec.taints ?? []).map(taintOf),
    };
  });

const time = (text: string | undefined): number => (text === undefined ? 0 : timeOf(text));

/** When a container began again, or ended and has not begun again; 0 for one that runs for the first time. */
function restartMs({ restartCount, state, lastState }: ContainerStatus): number {
  if (restartCount > 0 && state?.running !== undefined) return time(state.running.startedAt);
  return Math.max(time(state?.terminated?.finishedAt), time(lastState?.terminated?.finishedAt));
}

/** When the first of the containers that run began; 0 where none runs. */
function startMs(statuses: readonly ContainerStatus[]): number {
  const starts = statuses.flatMap(({ state }) => (state?.running === undefined ? [] : [time(state.running.startedAt)]));
  return starts.length === 0 ? 0 : Math.min(...starts);
}

/** A PodList as the API sends it. */
export const parsePods = (out: string): readonly PodView[] =>
  (itemsOf(out) as readonly unknown[] as readonly RawPod[]).map(({ metadata, spec, status }) => ({
    namespace: textIn(metadata.namespace, ''),
    name: textIn(metadata.name),
    node: textIn(spec.nodeName, ''),
    labels: textsOf(metadata.labels),
    ready: status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true,
    trouble: troubleOf(status),
    lastRestartMs: Math.max(0, ...(status.containerStatuses ?? []).map(restartMs)),
    images: (spec.containers ?? []).map(({ image }) => textIn(image, '')),
    startedMs: startMs(status.containerStatuses ?? []),
  }));

/** A ConfigMapList: name → data. */
export const parseConfigMaps = (out: string): ReadonlyMap<string, Readonly<Record<string, string>>> =>
  new Map(itemsOf(out).map(({ metadata, data }) => [textIn(objectOf(metadata)['name']), textsOf(data)]));

const decode = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8');

/** Ids of the tokens whose description begins with `start`; a line is `id description`, both base64. */
export const parseTokens = (out: string, start: string): readonly string[] =>
  lines(out)
    .map((line) => line.split(' ').map(decode))
    .filter(([, description]) => description?.startsWith(start))
    .map(([id]) => lineOf(id ?? ''));

/** What `kubectl get -o json` prints: nothing, one object, or a list of them. */
export function parseObjects(out: string): readonly JsonObject[] {
  if (out.trim() === '') return [];
  const found = objectOf(JSON.parse(out));
  const objects = found['kind'] === 'List' ? itemsOf(out) : [found];
  // What cannot be told apart by its name is no object that was asked for.
  for (const object of objects) objectKey(object);
  return objects;
}

/** Parses lines of `namespace name hash`: kbuild reads no content of Secrets, only their hashes. */
export const parseSecrets = (out: string): readonly JsonObject[] =>
  lines(out).map((line) => {
    const [namespace, name, hash] = line.trim().split(/\s+/);
    if (namespace === undefined || name === undefined || hash === undefined) throw unexpected(line);
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace, annotations: hash === '<none>' ? {} : { [HASH_ANNOTATION]: hash } },
    };
  });

/** Live objects by the key of the object that wants them: a wanted object may leave the default namespace out. */
export function byWantedKey(
  wanted: readonly JsonObject[],
  live: readonly JsonObject[],
): ReadonlyMap<string, JsonObject> {
  const found = new Map(live.map((object) => [objectKey(object), object]));
  return new Map(
    wanted.flatMap((object) => {
      const key = objectKey(object);
      const [apiVersion, kind, namespace, name] = [
        object['apiVersion'] as string,
        object['kind'] as string,
        (object['metadata'] as Metadata).namespace,
        (object['metadata'] as Metadata).name,
      ];
      const its =
        found.get(key) ?? (namespace === undefined ? found.get(`${apiVersion}/${kind}/default/${name}`) : undefined);
      return its === undefined ? [] : [[key, its] as const];
    }),
  );
}
