import { createHash } from 'node:crypto';
import { acting } from '../cluster/acting.ts';
import { kubectl } from '../configuration/kubectl.ts';
import { holds } from '../configuration/compare.ts';
import type { Change, Step, Target } from '../engine/step.ts';
import { objectKey, type ClusterUp } from '../facts/cluster.ts';
import { FIELD_MANAGER, HASH_ANNOTATION, OWNER_LABEL, RECORD } from '../facts/ownership.ts';
import type { Inventory, JsonObject } from '../model/inventory.ts';
import { script } from '../templates.ts';
import { waitForApi } from './wait-for-api.ts';

/** A group of objects that kbuild owns. */
export interface Manifest {
  /** Its name in summaries, with a version where it has one. */
  readonly title: string;
  readonly objects: readonly JsonObject[];
  /**
   * How a live object is compared: `fields` (each field that kbuild wants, for objects that kbuild writes itself in the
   * API's own spelling) or `hash` (what was applied last: a user's `cpu: 1` comes back as `"1"`).
   */
  readonly compare: 'fields' | 'hash';
}

const metadataOf = (object: JsonObject): JsonObject => (object['metadata'] ?? {}) as JsonObject;

/** The object as it is applied: with the owner's label and the hash of what was asked for. */
export function stamped(object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  const hash = createHash('sha256').update(JSON.stringify(object)).digest('hex');
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

/** What was found of a manifest in the cluster; undefined when it is all there. */
function difference({ objects, compare }: Manifest, cluster: ClusterUp): string | undefined {
  const missing: string[] = [];
  const differing: string[] = [];
  for (const object of objects) {
    const wanted = stamped(object);
    const live = cluster.objects.get(objectKey(object));
    if (live === undefined) missing.push(label(object));
    else if (hashOf(live) !== hashOf(wanted)) differing.push(label(object));
    else if (compare === 'fields' && !holds(wanted, live)) differing.push(label(object));
  }
  if (missing.length === 0 && differing.length === 0) return undefined;
  if (missing.length === objects.length) return 'found none';
  const some = (names: readonly string[], what: string): readonly string[] =>
    names.length === 0 ? [] : [`${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''} ${what}`];
  return `found ${[...some(missing, 'missing'), ...some(differing, 'different')].join('; ')}`;
}

const list = (items: readonly JsonObject[]): string =>
  items.length === 0 ? '' : JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

/** The ConfigMap that lists what kbuild owns, so that it can be taken back when the inventory no longer names it. */
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

/** Applies objects server-side as `kbuild`, the record first; CRDs are waited for before what may be of their kinds. */
export async function applyObjects(
  { inventory, fleet }: Target<'cluster'>,
  on: Parameters<NonNullable<Change['apply']>>[0],
  objects: readonly JsonObject[],
  owned: readonly string[],
): Promise<void> {
  const host = acting(fleet);
  const all = objects.map(stamped);
  const crds = objects.filter(isCrd).map((object) => String(metadataOf(object)['name']));
  const mark = record([...owned, ...objects.map(objectKey)]);
  const first = all.filter(comesFirst);
  const rest = all.filter((object) => !comesFirst(object));
  await on(host).run(
    script('linux/apply-objects.sh', {
      KUBECTL: kubectl(inventory, host).join(' '),
      MANAGER: FIELD_MANAGER,
      // One kubectl does it all where no object may be of a kind that the ones before it bring.
      FIRST: list(crds.length === 0 ? [mark, ...first, ...rest] : [mark, ...first]),
      CRDS: crds,
      OBJECTS: crds.length === 0 ? '' : list(rest),
    }),
  );
}

/** Objects in the cluster, as they should be. `undefined`: the inventory wants none of them. */
export const manifest = (name: string, wanted: (inventory: Inventory) => Manifest | undefined): Step<'cluster'> => ({
  name,
  settleMs: 30_000,
  diff: (target) => {
    const { inventory, facts } = target;
    const its = wanted(inventory);
    if (its === undefined || its.objects.length === 0) return [];
    if (facts.state === 'down') return waitForApi(facts);
    const found = facts.state === 'absent' ? 'found none' : difference(its, facts);
    if (found === undefined) return [];
    return [
      {
        summary: `apply ${its.title} (${found})`,
        apply: (on) =>
          applyObjects(target, on, its.objects, target.fleet.cluster.state === 'up' ? target.fleet.cluster.owned : []),
      },
    ];
  },
});
