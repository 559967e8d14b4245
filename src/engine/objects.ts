import { stringify } from 'yaml';
import { FIELD_MANAGER, HASH_ANNOTATION, OWNER_LABEL, RECORD } from '../cluster/fleet/ownership.ts';
import { type ClusterUp, objectKey } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import { kubectl } from '../inventory/api-server.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { holds } from '../inventory/merge.ts';
import { isObject, type JsonObject } from '../shell/decode.ts';
import { sha256Of } from '../shell/secret.ts';
import { script } from '../templates.ts';
import { isAwaited, jobStanding, partsBetweenJobs } from './awaited-jobs.ts';
import { waitForApi } from './combinators.ts';
import type { Change, Step, Target } from './step.ts';
import { textDiff } from './text-diff.ts';

/** What `live` has in the fields that `desired` names: the API and other programs add fields. */
function namedBy(desired: unknown, live: unknown): unknown {
  if (Array.isArray(desired) && Array.isArray(live)) return live.map((item, i) => namedBy(desired[i], item));
  if (!isObject(desired) || !isObject(live)) return live;
  const named = Object.keys(desired).filter((key) => key in live);
  return Object.fromEntries(named.map((key) => [key, namedBy(desired[key], live[key])]));
}

/** The object without kbuild's hash, and without the values of a Secret. */
function shown(object: JsonObject, other: JsonObject | undefined, age: string): JsonObject {
  const { annotations, ...more } = object['metadata'] as JsonObject;
  const all = isObject(annotations) ? Object.entries(annotations) : [];
  const kept = all.filter(([name]) => name !== HASH_ANNOTATION);
  const hidden = (field: 'data' | 'stringData'): JsonObject => {
    const values = object[field];
    if (!isObject(values)) return {};
    const others = isObject(other?.[field]) ? other[field] : {};
    const hide = (key: string) => [key, values[key] === others[key] ? '(hidden)' : `(hidden, ${age})`];
    return { [field]: Object.fromEntries(Object.keys(values).map(hide)) };
  };
  return {
    ...object,
    metadata: { ...more, ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }) },
    ...(object['kind'] === 'Secret' ? { ...hidden('data'), ...hidden('stringData') } : {}),
  };
}

const yaml = (object: JsonObject): string => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false });

/** How applying `desired` changes a live object, for `plan --diff`. Shows no value of a Secret. */
function objectPreview(desired: JsonObject, live: JsonObject | undefined): string {
  const { name, namespace } = desired['metadata'] as JsonObject;
  const place = typeof namespace === 'string' ? ` in ${namespace}` : '';
  const head = `${String(desired['kind'])} ${String(name)}${place}`;
  if (live === undefined) return `${head} (new)\n${textDiff('', yaml(shown(desired, undefined, 'new')))}`;
  const before = namedBy(desired, live) as JsonObject;
  const diff = textDiff(yaml(shown(before, desired, 'old')), yaml(shown(desired, before, 'new')));
  return `${head}\n${diff === '' ? '(only fields that the inventory no longer names)' : diff}`;
}

/** A group of objects that kbuild owns. */
export interface Manifest {
  /** Its name in summaries, with its version if it has one. */
  readonly title: string;
  readonly objects: readonly JsonObject[];
  /**
   * How kbuild compares a live object: `fields` (every desired field, for objects that kbuild writes in the API's own
   * spelling) or `hash` (of the object that was applied last: the API returns a user's `cpu: 1` as `"1"`). `values`:
   * the desired fields without kbuild's label and hash, which another program takes out when it writes the object.
   */
  readonly compare: 'fields' | 'hash' | 'values';
}

const metadataOf = (object: JsonObject): JsonObject => (object['metadata'] ?? {}) as JsonObject;

/** The object as kbuild applies it: with the owner's label and the hash of the desired object. */
export function stamped(object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  const hash = sha256Of(JSON.stringify(object));
  return {
    ...object,
    metadata: {
      ...metadata,
      labels: { ...(metadata['labels'] as JsonObject | undefined), [OWNER_LABEL.name]: OWNER_LABEL.value },
      annotations: { ...(metadata['annotations'] as JsonObject | undefined), [HASH_ANNOTATION]: hash },
    },
  };
}

const hashOf = (object: JsonObject): unknown =>
  (metadataOf(object)['annotations'] as JsonObject | undefined)?.[HASH_ANNOTATION];

const label = (object: JsonObject): string => `${String(object['kind'])} ${String(metadataOf(object)['name'])}`;

/** True where the live object is as kbuild applied it, though it may be a Job that has not completed. */
function isWritten(object: JsonObject, live: JsonObject, compare: Manifest['compare']): boolean {
  if (compare === 'values') return holds(object, live);
  const wanted = stamped(object);
  return hashOf(live) === hashOf(wanted) && (compare === 'hash' || holds(wanted, live));
}

/** True where the live object is as kbuild applied it, and has done what others wait for. */
const isApplied = (object: JsonObject, live: JsonObject, compare: Manifest['compare']): boolean =>
  isWritten(object, live, compare) && (!isAwaited(object) || jobStanding(live) === 'complete');

/** The missing and differing objects, for `plan --diff`. */
function previewOf({ objects, compare }: Manifest, live: ClusterUp['objects']): string {
  const previews = objects.flatMap((object) => {
    const found = live.get(objectKey(object));
    return found !== undefined && isWritten(object, found, compare) ? [] : [objectPreview(stamped(object), found)];
  });
  return previews.join('\n');
}

/** What is missing or different in the cluster, for the summary; undefined if nothing is. */
function difference({ objects, compare }: Manifest, cluster: ClusterUp): string | undefined {
  const missing: string[] = [];
  const differing: string[] = [];
  const jobs: string[] = [];
  for (const object of objects) {
    const live = cluster.objects.get(objectKey(object));
    if (live === undefined) missing.push(label(object));
    else if (!isWritten(object, live, compare)) differing.push(label(object));
    else if (!isApplied(object, live, compare)) jobs.push(`${label(object)} ${jobStanding(live)}`);
  }
  if (missing.length === 0 && differing.length === 0 && jobs.length === 0) return undefined;
  if (missing.length === objects.length) return 'found none';
  const some = (names: readonly string[], what: string): readonly string[] =>
    names.length === 0 ? [] : [`${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''} ${what}`];
  return `found ${[...some(missing, 'missing'), ...some(differing, 'different'), ...jobs].join('; ')}`;
}

const list = (items: readonly JsonObject[]): string =>
  items.length === 0 ? '' : JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

/** The ConfigMap that lists kbuild's objects, so that kbuild can delete those that the inventory no longer names. */
export const record = (keys: readonly string[]): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: RECORD.name,
    namespace: RECORD.namespace,
    labels: { [OWNER_LABEL.name]: OWNER_LABEL.value },
  },
  data: { [RECORD.key]: `${[...new Set(keys)].sort().join('\n')}\n` },
});

const isCrd = (object: JsonObject): boolean => object['kind'] === 'CustomResourceDefinition';
const comesFirst = (object: JsonObject): boolean => object['kind'] === 'Namespace' || isCrd(object);

/** As long as `helm install` waits for a hook. */
const JOB_LIMIT_S = 300;

/**
 * Applies objects server-side as `kbuild`, the record first. Waits for CRDs before it applies objects of their kinds,
 * and for the Jobs of hooks. `live`: the objects that are there.
 */
async function applyObjects(
  { inventory, fleet }: Target<'cluster'>,
  on: Parameters<NonNullable<Change['apply']>>[0],
  { objects, compare }: Manifest,
  { owned, objects: live }: Pick<ClusterUp, 'owned' | 'objects'>,
): Promise<void> {
  const host = acting(fleet);
  const all = objects.map(stamped);
  const crds = objects.filter(isCrd).map((object) => String(metadataOf(object)['name']));
  const mark = record([...owned, ...objects.map(objectKey)]);
  const first = all.filter(comesFirst);
  const rest = all.filter((object) => !comesFirst(object));
  const parts = partsBetweenJobs(rest);
  const early = parts[0] === undefined || isAwaited(parts[0][0]!) ? [] : parts.shift()!;
  const common = { KUBECTL: kubectl(inventory, host).join(' '), MANAGER: FIELD_MANAGER };
  const apply = async (before: readonly JsonObject[], names: readonly string[], after: readonly JsonObject[]) =>
    on(host).run(
      script('engine/apply-objects.sh', {
        ...common,
        // Without CRDs one kubectl is enough.
        FIRST: list(names.length === 0 ? [...before, ...after] : before),
        CRDS: names,
        OBJECTS: names.length === 0 ? '' : list(after),
      }),
    );
  const run = async (job: JsonObject): Promise<void> => {
    const { name, namespace = 'default' } = metadataOf(job);
    const found = live.get(objectKey(job));
    const wanted = objects.find((object) => objectKey(object) === objectKey(job))!;
    if (found !== undefined && isApplied(wanted, found, compare)) return;
    const goesOn = found !== undefined && isWritten(wanted, found, compare) && jobStanding(found) === 'unfinished';
    // A Job that kbuild did not make is never deleted: Kubernetes then refuses to change it, and the change fails.
    const isReplaced = found !== undefined && !goesOn && owned.includes(objectKey(job));
    await on(host).run(
      script('engine/run-job.sh', {
        ...{ ...common, JOB: JSON.stringify(job), NAMESPACE: String(namespace), NAME: String(name) },
        ...{ LIMIT: String(JOB_LIMIT_S), REPLACED: isReplaced ? 'yes' : '' },
      }),
    );
  };
  await apply([mark, ...first], crds, early);
  for (const part of parts) await (isAwaited(part[0]!) ? run(part[0]!) : apply(part, [], []));
}

const NOTHING_THERE: Pick<ClusterUp, 'owned' | 'objects'> = { owned: [], objects: new Map() };

/** Applies the objects of a manifest that are missing or different. `undefined`: the inventory wants none of them. */
export const manifest = (name: string, wanted: (inventory: Inventory) => Manifest | undefined): Step<'cluster'> => ({
  name,
  settleMs: 30_000,
  diff: (target) => {
    const { inventory, facts } = target;
    const desired = wanted(inventory);
    if (desired === undefined || desired.objects.length === 0) return [];
    if (facts.state === 'down') return [waitForApi(facts)];
    const found = facts.state === 'absent' ? 'found none' : difference(desired, facts);
    if (found === undefined) return [];
    return [
      {
        summary: `apply ${desired.title} (${found})`,
        preview: () => Promise.resolve(previewOf(desired, facts.state === 'up' ? facts.objects : new Map())),
        apply: (on) => {
          const { cluster } = target.fleet;
          return applyObjects(target, on, desired, cluster.state === 'up' ? cluster : NOTHING_THERE);
        },
      },
    ];
  },
});
