import { workloadOf } from '../../certificates/token-use.facts.ts';
import type { Taint } from '../../inventory/inventory.ts';
import {
  flagIn,
  itemsOf,
  type JsonObject,
  numberIn,
  objectOf,
  objectsOf,
  textIn,
  textsIn,
  textsOf,
  within,
} from '../../shell/decode.ts';
import { lastLine, lineOf, lines, timeOf, unexpected, wordOf } from '../../shell/probe.ts';
import { excerpt } from '../../shell/text.ts';
import { HASH_ANNOTATION } from './ownership.ts';
import { type CaReader, type NodeCondition, type NodeView, objectKey, type PodView } from './view.ts';

/**
 * Why an API server is not ready, in one line: the checks that it names as failed, or the last line of what was printed
 * instead. kubectl prints the 35 checks of /readyz, quoted in one line or each on its own.
 */
export function unready(text: string): string {
  const failed = [...text.matchAll(/\[-\]([\w/.-]+) failed/g)].map(([, check]) => check!);
  if (failed.length > 0) return `${[...new Set(failed)].join(', ')} failed`;
  return lastLine(text);
}

const ROOT_CAS = 'kube-root-ca.crt';

/**
 * The pods that read the cluster's CA and are older than what their namespace gives them now. The API reports whole
 * seconds: a pod that started in the same second counts as older.
 */
export function parseCaReaders(out: string): readonly CaReader[] {
  const rows = lines(out).map((line) => line.split('\t'));
  const given = new Map(
    rows
      .filter(([what]) => what === 'given')
      .map(([, namespace, times = '']) => {
        const changes = times.split(' ').filter((time) => time !== '');
        return [namespace, Math.max(0, ...changes.map(timeOf))] as const;
      }),
  );
  return rows.flatMap(
    ([what, namespace = '', name = '', started = '', kind = '', owner = '', hash = '', reads = '']) => {
      if (what !== 'pod' || !reads.split(' ').includes(ROOT_CAS)) return [];
      const startedMs = started === '' ? Infinity : timeOf(started);
      if (startedMs > (given.get(namespace) ?? 0)) return [];
      return [{ namespace, name, workload: workloadOf(kind, owner, hash) }];
    },
  );
}

/** The conditions of a node or pod. */
const conditionsOf = (status: JsonObject) =>
  objectsOf(status['conditions']).map(({ type, status: state, reason, message }) => ({
    ...{ type: textIn(type), status: textIn(state) },
    ...{ reason: textIn(reason, ''), message: textIn(message, '') },
  }));
type Condition = ReturnType<typeof conditionsOf>[number];

/** Reasons of a container that waits because it begins. */
const BEGINS: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing']);

/** Why the first container waits that waits for anything but its start. */
const troubleOf = ({ initContainerStatuses, containerStatuses }: JsonObject): string =>
  [...objectsOf(initContainerStatuses), ...objectsOf(containerStatuses)]
    .map((container) => within(container, 'state', 'waiting'))
    .map(({ reason, message }) => ({ reason: textIn(reason, ''), message: textIn(message, '') }))
    .filter(({ reason }) => !BEGINS.has(reason))
    .map(({ reason, message }) => (message === '' ? reason : `${reason}: ${message}`))[0] ?? '';

/** Conditions of the kubelet and of network plugins that are bad when they are true. */
const BAD_WHEN_TRUE: ReadonlySet<string> = new Set([
  'DiskPressure',
  'MemoryPressure',
  'PIDPressure',
  'NetworkUnavailable',
]);

/**
 * The bad or unknown conditions of a node. Conditions of others (a node problem detector) have meanings that kbuild
 * does not know.
 */
const badConditions = (conditions: readonly Condition[]): readonly NodeCondition[] =>
  conditions
    .filter(
      ({ type, status }) => (type === 'Ready' && status !== 'True') || (BAD_WHEN_TRUE.has(type) && status !== 'False'),
    )
    .map(({ type, status, reason, message }) => ({
      type,
      status,
      reason: [reason, message].filter((text) => text !== '').join(': '),
    }));

const effectOf = wordOf('NoSchedule', 'PreferNoSchedule', 'NoExecute');

const taintOf = ({ key, value, effect }: JsonObject): Taint => ({
  key: textIn(key),
  ...(value === undefined ? {} : { value: textIn(value) }),
  effect: effectOf(textIn(effect)),
});

/** Why a node is not Ready; empty if it is. */
function unreadiness(ready: Condition | undefined): string {
  if (ready?.status === 'True') return '';
  if (ready === undefined) return 'its kubelet has not reported yet';
  return [ready.reason || 'its kubelet has not reported yet', ready.message].filter((text) => text !== '').join(': ');
}

function nodeOf(item: JsonObject): NodeView {
  const { name, labels: labelled, annotations } = within(item, 'metadata');
  const spec = within(item, 'spec');
  const status = within(item, 'status');
  const { kubeletVersion, osImage, containerRuntimeVersion, machineID, bootID } = within(status, 'nodeInfo');
  const conditions = conditionsOf(status);
  const ready = conditions.find(({ type }) => type === 'Ready');
  const labels = textsOf(labelled);
  const taints = objectsOf(spec['taints']);
  const cordon = taints.find(({ key }) => key === 'node.kubernetes.io/unschedulable');
  const address = objectsOf(status['addresses']).find(({ type }) => type === 'InternalIP');
  return {
    name: textIn(name),
    role: 'node-role.kubernetes.io/control-plane' in labels ? 'control-plane' : 'worker',
    ready: ready?.status === 'True',
    reason: unreadiness(ready),
    conditions: badConditions(conditions),
    unschedulable: flagIn(spec['unschedulable']),
    cordonedAt: textIn(cordon?.['timeAdded'], ''),
    kubeletVersion: excerpt(textIn(kubeletVersion)).replace(/^v/, ''),
    os: excerpt(textIn(osImage)),
    runtime: excerpt(textIn(containerRuntimeVersion)),
    internalAddress: textIn(address?.['address'], ''),
    machineId: textIn(machineID, ''),
    bootId: textIn(bootID, ''),
    labels,
    annotations: textsOf(annotations),
    taints: taints.map(taintOf),
  };
}

/** A NodeList as the API sends it. Throws on another. */
export const parseNodes = (out: string): readonly NodeView[] => itemsOf(out).map(nodeOf);

/** A time of the API, in ms since the epoch; 0 where it is missing. */
const time = (text: unknown): number => (text === undefined || text === null ? 0 : timeOf(textIn(text)));

/** When a container began again, or ended and has not begun again; 0 for one that runs for the first time. */
function restartMs(container: JsonObject): number {
  const { running } = within(container, 'state');
  if (numberIn(container['restartCount'], 0) > 0 && running !== undefined) return time(objectOf(running)['startedAt']);
  const ends = ['state', 'lastState'].map((part) => time(within(container, part, 'terminated')['finishedAt']));
  return Math.max(...ends);
}

/** When the first of the containers that run began; 0 where none runs. */
function startMs(containers: readonly JsonObject[]): number {
  const starts = containers.flatMap((container) => {
    const { running } = within(container, 'state');
    return running === undefined ? [] : [time(objectOf(running)['startedAt'])];
  });
  return starts.length === 0 ? 0 : Math.min(...starts);
}

/** The annotation of the object that shows a static pod as its kubelet runs it. */
const MIRROR = 'kubernetes.io/config.mirror';

/** Command and arguments of the first container. */
function commandOf(containers: unknown): readonly string[] {
  const [{ command, args } = {}] = objectsOf(containers);
  return [...textsIn(command ?? []), ...textsIn(args ?? [])];
}

function podOf(item: JsonObject): PodView {
  const { namespace, name, labels, annotations } = within(item, 'metadata');
  const { nodeName, containers } = within(item, 'spec');
  const status = within(item, 'status');
  const statuses = objectsOf(status['containerStatuses']);
  return {
    namespace: textIn(namespace, ''),
    name: textIn(name),
    node: textIn(nodeName, ''),
    labels: textsOf(labels),
    ready: conditionsOf(status).some((condition) => condition.type === 'Ready' && condition.status === 'True'),
    trouble: troubleOf(status),
    lastRestartMs: Math.max(0, ...statuses.map(restartMs)),
    images: objectsOf(containers).map(({ image }) => textIn(image, '')),
    startedMs: startMs(statuses),
    ...(MIRROR in textsOf(annotations) ? { command: commandOf(containers) } : {}),
  };
}

/** A PodList as the API sends it. Throws on another. */
export const parsePods = (out: string): readonly PodView[] => itemsOf(out).map(podOf);

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
      const { apiVersion, kind } = object;
      const metadata = within(object, 'metadata');
      const inDefault = { apiVersion, kind, metadata: { ...metadata, namespace: 'default' } };
      const its = found.get(key) ?? (metadata['namespace'] === undefined ? found.get(objectKey(inDefault)) : undefined);
      return its === undefined ? [] : [[key, its] as const];
    }),
  );
}
