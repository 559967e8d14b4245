import { isObject, type JsonObject } from '../../shell/decode.ts';
import type { UserManifest } from '../inventory.ts';
import { type ChartEntry, isChartFile } from '../schema/charts.ts';
import type { Path } from '../schema/rule.ts';
import { type ReadValues, readValues, valuesOf, withoutSecrets } from './chart-values.ts';
import type { Helm } from './helm.ts';
import { hashOf } from './helm-program.ts';
import { manifestObjects, type PlacedChart, type PlacedManifest } from './manifests.ts';
import type { Reader } from './reader.ts';

// Built-in kinds without a namespace (`kubectl api-resources --namespaced=false`, Kubernetes 1.34 to 1.37).
const CLUSTER_KINDS = new Set(
  (
    'APIService CSIDriver CSINode CertificateSigningRequest ClusterRole ClusterRoleBinding ClusterTrustBundle ' +
    'CustomResourceDefinition DeviceClass DeviceTaintRule FlowSchema IPAddress IngressClass MutatingAdmissionPolicy ' +
    'MutatingAdmissionPolicyBinding MutatingWebhookConfiguration Namespace Node PersistentVolume PriorityClass ' +
    'PriorityLevelConfiguration ResourceSlice RuntimeClass ServiceCIDR StorageClass StorageVersionMigration ' +
    'ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration VolumeAttachment ' +
    'VolumeAttributesClass'
  ).split(' '),
);

/** Namespaces that every cluster has. */
const STANDING = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);

const metadataOf = (object: JsonObject): JsonObject => object['metadata'] as JsonObject;
const title = (object: JsonObject): string => `${String(object['kind'])} ${String(metadataOf(object)['name'])}`;
const groupOf = (object: JsonObject): string => String(object['apiVersion']).split('/').slice(0, -1).join('');

function annotation(object: JsonObject, name: string): string {
  const annotations = metadataOf(object)['annotations'];
  const value = isObject(annotations) ? annotations[name] : undefined;
  return typeof value === 'string' ? value : '';
}

/**
 * The order in which kbuild applies an object of a chart: hooks before and after the others, by their weights; NaN for
 * hooks of tests, of `helm uninstall` and `helm rollback`.
 */
function orderOf(object: JsonObject): readonly [number, number] {
  const hooks = annotation(object, 'helm.sh/hook');
  if (hooks === '') return [0, 0];
  const weight = Number(annotation(object, 'helm.sh/hook-weight')) || 0;
  if (/\b(?:pre-install|pre-upgrade|crd-install)\b/.test(hooks)) return [-1, weight];
  if (/\b(?:post-install|post-upgrade)\b/.test(hooks)) return [1, weight];
  return [Number.NaN, 0];
}

/** A hook's Job without the field that has Kubernetes delete it, after which the next `up` would run it again. */
function kept(object: JsonObject): JsonObject {
  if (object['kind'] !== 'Job' || annotation(object, 'helm.sh/hook') === '' || !isObject(object['spec'])) return object;
  const spec = Object.entries(object['spec']).filter(([name]) => name !== 'ttlSecondsAfterFinished');
  return { ...object, spec: Object.fromEntries(spec) };
}

/** The objects of a rendering in the order in which they are applied, without those of tests and of uninstalling. */
function ordered(objects: readonly JsonObject[]): readonly JsonObject[] {
  return objects
    .map((object) => ({ object: kept(object), order: orderOf(object) }))
    .filter(({ order: [part] }) => !Number.isNaN(part))
    .toSorted((a, b) => a.order[0] - b.order[0] || a.order[1] - b.order[1])
    .map(({ object }) => object);
}

/** The path of the first difference between two values; undefined if they are equal. */
function differenceIn(a: unknown, b: unknown): string | undefined {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b ? undefined : '';
  const [left, right] = [a as JsonObject, b as JsonObject];
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const inner = differenceIn(left[key], right[key]);
    if (inner !== undefined) return inner === '' ? key : `${key}.${inner}`;
  }
  return undefined;
}

/** @throws Error that names the first object and field in which two renderings differ */
function refuseDifference(first: readonly JsonObject[], second: readonly JsonObject[]): void {
  const at = first.findIndex((object, i) => differenceIn(object, second[i]) !== undefined);
  if (at === -1 && first.length === second.length) return;
  const object = first[at === -1 ? second.length : at];
  const field = at === -1 ? undefined : differenceIn(object, second[at]);
  const where = object === undefined ? 'the number of objects' : [title(object), field ?? ''].join(' ').trim();
  throw new Error(
    `two renderings with the same values differ in ${where}: the chart makes a value up each time, so that every run ` +
      'would change the cluster. Set that value in values or secretValues',
  );
}

/** Kinds of custom resources without a namespace, as `group/Kind`, from CRDs. */
const clusterScoped = (objects: readonly JsonObject[]): ReadonlySet<string> =>
  new Set(
    objects.flatMap(({ kind, spec }) => {
      if (kind !== 'CustomResourceDefinition' || !isObject(spec) || spec['scope'] !== 'Cluster') return [];
      return [`${String(spec['group'])}/${String((spec['names'] as JsonObject)['kind'])}`];
    }),
  );

/** The API versions that CRDs bring, as Helm names them: `group/version` and `group/version/Kind`. */
const apisOf = (objects: readonly JsonObject[]): ReadonlySet<string> =>
  new Set(
    objects.flatMap(({ kind, spec }) => {
      if (kind !== 'CustomResourceDefinition' || !isObject(spec) || !Array.isArray(spec['versions'])) return [];
      const { group, names, versions } = spec;
      return versions
        .filter((version): version is JsonObject => isObject(version) && version['served'] !== false)
        .flatMap(({ name }) => [
          `${String(group)}/${String(name)}`,
          ...(isObject(names) ? [`${String(group)}/${String(name)}/${String(names['kind'])}`] : []),
        ]);
    }),
  );

/** Sets the release's namespace where a chart leaves it to Helm. */
function placed(object: JsonObject, { namespace, clusterKinds }: ChartEntry, scoped: ReadonlySet<string>): JsonObject {
  const kind = String(object['kind']);
  const group = groupOf(object);
  const isBuiltIn = !group.includes('.') || group.endsWith('.k8s.io');
  const hasNone =
    (isBuiltIn && CLUSTER_KINDS.has(kind)) || clusterKinds.includes(kind) || scoped.has(`${group}/${kind}`);
  const metadata = metadataOf(object);
  if (hasNone || typeof metadata['namespace'] === 'string') return object;
  return { ...object, metadata: { ...metadata, namespace } };
}

function fetchOf({ chart, repository, version }: ChartEntry): readonly string[] {
  const pinned = version === undefined ? [] : ['--version', version];
  return [chart, ...(repository === undefined ? [] : ['--repo', repository]), ...pinned];
}

interface World {
  readonly reader: Reader;
  /** undefined: no command may run. */
  readonly helm: Helm | undefined;
  readonly kubernetes: string;
}

async function packaged({ reader, helm }: World, path: Path, entry: ChartEntry): Promise<Uint8Array> {
  if (!isChartFile(entry)) return (await helm?.pull(fetchOf(entry), entry.sha256!)) ?? Buffer.of();
  const bytes = Buffer.from(await reader.binary([...path, 'chart'], entry.chart), 'latin1');
  const { sha256 } = entry;
  if (bytes.length > 0 && sha256 !== undefined && hashOf(bytes) !== sha256)
    throw new Error(`has SHA-256 ${hashOf(bytes)}, and the inventory says ${sha256}`);
  return bytes;
}

/** A chart with the values of its files, and its secret ones. */
interface Prepared extends PlacedChart, ReadValues {}

/** `apis`: those of the inventory's CRDs. */
async function rendered(world: World, { path, entry, ...read }: Prepared, apis: ReadonlySet<string>) {
  const { helm, kubernetes } = world;
  const bytes = await packaged(world, path, entry);
  if (helm === undefined || bytes.length === 0) return [];
  const values = valuesOf(entry, read);
  const args = [
    ...['--namespace', entry.namespace, '--kube-version', kubernetes, '--include-crds', '--skip-tests'],
    ...[...new Set([...entry.apiVersions, ...[...apis].sort()])].flatMap((version) => ['--api-versions', version]),
  ];
  const render = async (): Promise<readonly JsonObject[]> =>
    manifestObjects(await helm.render(entry.name, bytes, args, JSON.stringify(values)), `chart ${entry.name}`);
  try {
    const [first, second] = [await render(), await render()];
    refuseDifference(first, second);
    const objects = ordered(first);
    // `up` deletes objects that a chart no longer has: an empty answer of a broken Helm must not empty the cluster.
    if (objects.length === 0)
      throw new Error('Helm rendered no object: take the chart out of `charts` if its objects are to be deleted');
    return objects;
  } catch (error) {
    throw new Error(withoutSecrets(error instanceof Error ? error.message : String(error), read.secrets));
  }
}

const prepared = async ({ reader }: World, chart: PlacedChart): Promise<Prepared> => ({
  ...chart,
  ...(await readValues(reader, chart)),
});

/**
 * The objects of charts, rendered twice and equal. Empty without a report where Helm may not run. `others`: manifests
 * of the inventory, which may have CRDs and Namespaces of the charts. Charts are told the APIs of all these CRDs, and
 * none that only a live cluster has: the first `up` and the next ones must render the same.
 */
export async function readCharts(
  world: World,
  entries: readonly PlacedChart[],
  others: readonly UserManifest[],
): Promise<readonly PlacedManifest[]> {
  const charts = await Promise.all(entries.map((chart) => prepared(world, chart)));
  const renderAll = (apis: ReadonlySet<string>) =>
    Promise.allSettled(charts.map((each) => rendered(world, each, apis)));
  const offered = apisOf(others.flatMap(({ objects }) => objects));
  const first = await renderAll(offered);
  const brought = apisOf(first.flatMap((result) => (result.status === 'fulfilled' ? result.value : [])));
  const apis = new Set([...offered, ...brought]);
  const results = apis.size === offered.size ? first : await renderAll(apis);
  const read = await Promise.all(
    charts.map(async ({ path, entry, secrets }, i): Promise<PlacedManifest> => {
      const result = results[i]!;
      const work = (): Promise<readonly JsonObject[]> =>
        result.status === 'fulfilled' ? Promise.resolve(result.value) : Promise.reject(result.reason as Error);
      const objects = await world.reader.attempt(path, `chart ${entry.name}`, work, []);
      return { source: `chart ${[entry.name, entry.version].join(' ').trim()}`, objects, secrets, path };
    }),
  );
  const all = [...others, ...read].flatMap(({ objects }) => objects);
  const scoped = clusterScoped(all);
  const named = new Set(all.flatMap((object) => (object['kind'] === 'Namespace' ? [metadataOf(object)['name']] : [])));
  return read.map((manifest, i) => {
    const { entry } = entries[i]!;
    const objects = manifest.objects.map((object) => placed(object, entry, scoped));
    if (objects.length === 0 || STANDING.has(entry.namespace) || named.has(entry.namespace))
      return { ...manifest, objects };
    named.add(entry.namespace);
    const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: entry.namespace } };
    return { ...manifest, objects: [own, ...objects] };
  });
}
