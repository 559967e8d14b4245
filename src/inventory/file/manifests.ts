import { pluginFile } from '../../network/plugins.file.ts';
import { isObject, type JsonObject } from '../../shell/decode.ts';
import { Secret } from '../../shell/secret.ts';
import { unquoted } from '../../shell/text.ts';
import type { Inventory, UserManifest } from '../inventory.ts';
import type { ChartEntry } from '../schema/charts.ts';
import { checksumOf, type ManifestEntry, sourceOf } from '../schema/formats.ts';
import type { Path } from '../schema/rule.ts';
import type { InventoryFile } from '../schema/schema.ts';
import type { Reader, Report } from './reader.ts';
import { endpointOf } from './rules/endpoint.ts';
import { balancerEntries, BALANCER_MANIFEST } from './rules/network-services.ts';
import { documentsIn, YamlError } from './yaml-of-others.ts';

function identified(value: unknown, place: string): JsonObject {
  if (!isObject(value)) throw new YamlError(`${place}: is no Kubernetes object`);
  const metadata = value['metadata'];
  for (const field of ['apiVersion', 'kind'] as const)
    if (typeof value[field] !== 'string') throw new YamlError(`${place}: an object needs ${field}`);
  if (!isObject(metadata) || typeof metadata['name'] !== 'string')
    throw new YamlError(`${place}: an object needs metadata.name`);
  return value;
}

/** The objects of a multi-document YAML or JSON text; a `List` becomes its items. @throws Error with the place */
export const manifestObjects = (text: string, source: string): readonly JsonObject[] =>
  documentsIn(text, source).flatMap(({ place, value }) => {
    if (value === null || value === undefined) return [];
    if (isObject(value) && typeof value['kind'] === 'string' && value['kind'].endsWith('List')) {
      const items = value['items'];
      if (Array.isArray(items)) return items.map((item) => identified(item, place));
    }
    return [identified(value, place)];
  });

/** Manifests that kbuild applies as others wrote them. */
export interface AppliedManifests {
  /** Of `charts:`, then of `manifests:`, in their order. */
  readonly manifests: readonly UserManifest[];
  /** Of the network plugin, in the order of its setting. */
  readonly pluginManifests: readonly UserManifest[];
  /** Of MetalLB. */
  readonly balancerManifests: readonly UserManifest[];
}

/** A manifest, and the setting that names it. */
export interface PlacedManifest extends UserManifest {
  readonly path: Path;
}

/** A chart, and the setting that names it. */
export interface PlacedChart {
  readonly path: Path;
  readonly entry: ChartEntry;
}

async function readManifest(reader: Reader, path: Path, entry: ManifestEntry): Promise<UserManifest> {
  const source = sourceOf(entry);
  const nothing = { source, objects: [] };
  const text = await reader.source(path, source, checksumOf(entry));
  const parse = (): Promise<UserManifest> => Promise.resolve({ source, objects: manifestObjects(text, source) });
  return reader.attempt(path, 'manifest', parse, nothing);
}

/** An object that two manifests describe would be applied twice, by turns. */
function reportRepeatedObjects(manifests: readonly PlacedManifest[], report: Report): void {
  const seen = new Map<string, string>();
  for (const { objects, source, path } of manifests)
    for (const object of objects) {
      const { name, namespace } = object['metadata'] as JsonObject;
      const key = JSON.stringify([object['apiVersion'], object['kind'], namespace, name]);
      const first = seen.get(key);
      if (first === undefined) seen.set(key, source);
      else report(path, `${source}: ${String(object['kind'])} ${String(name)} is in ${first} already`);
    }
}

/**
 * Reads the manifests that the inventory names, and reports what cannot be applied together. URLs only where they may
 * be fetched. `charts` renders those of the inventory and of the network plugin.
 */
export async function readManifests(
  reader: Reader,
  file: InventoryFile,
  report: Report,
  charts: (entries: readonly PlacedChart[], others: readonly UserManifest[]) => Promise<readonly PlacedManifest[]>,
): Promise<AppliedManifests> {
  const all = (at: Path, entries: readonly ManifestEntry[]): Promise<readonly PlacedManifest[]> =>
    Promise.all(
      entries.map(async (entry, i) => {
        const path = [...at, i];
        return { ...(await readManifest(reader, path, entry)), path };
      }),
    );
  const { manifests: published, chart } = pluginFile(file);
  const given = published === undefined ? [] : await all(published.path(file), published.entries(file));
  const named = await all(['manifests'], file.manifests);
  const balancing = await Promise.all(
    balancerEntries(file).map(async (entry) => ({
      ...(await readManifest(reader, BALANCER_MANIFEST, entry)),
      path: BALANCER_MANIFEST,
    })),
  );
  const own = chart === undefined ? [] : [{ path: chart.path, entry: chart.entry(file, endpointOf(file)) }];
  const users = file.charts.map((entry, i) => ({ path: ['charts', i], entry }));
  // The plugin is applied first: its chart must not ask for kinds that come after it.
  const ofPlugin = [...given, ...(await charts(own, given))];
  const manifests = [...(await charts(users, [...ofPlugin, ...balancing, ...named])), ...named];
  reportRepeatedObjects([...ofPlugin, ...balancing, ...manifests], report);
  const missing = published?.missing(given);
  if (published !== undefined && missing !== undefined) report(published.path(file), missing);
  const plain = ({ source, objects, secrets }: PlacedManifest): UserManifest => ({
    source,
    objects,
    ...(secrets === undefined || secrets.length === 0 ? {} : { secrets }),
  });
  return {
    manifests: manifests.map(plain),
    pluginManifests: ofPlugin.map(plain),
    balancerManifests: balancing.map(plain),
  };
}

/** Texts of a JSON document, however deep. */
function texts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : [];
}

/** A value, and the parts of it that stand alone elsewhere: texts of a JSON document, right sides of `name=value`. */
function parts(value: string): readonly string[] {
  const sides = value.split('\n').flatMap((line) => {
    const [, side] = /^\s*[\w.-]+\s*[=:](.*)/.exec(line) ?? [];
    return side === undefined ? [] : [unquoted(side)];
  });
  try {
    return [value, ...sides, ...texts(JSON.parse(value) as unknown)];
  } catch {
    return [value, ...sides];
  }
}

function valuesOf(object: JsonObject): readonly string[] {
  if (object['kind'] !== 'Secret') return [];
  const { data, stringData } = object;
  const encoded = isObject(data) ? Object.values(data).filter((value) => typeof value === 'string') : [];
  const plain = isObject(stringData) ? Object.values(stringData).filter((value) => typeof value === 'string') : [];
  const decoded = encoded.map((value) => Buffer.from(value, 'base64').toString());
  return [...encoded, ...[...decoded, ...plain].flatMap(parts)];
}

/** The values in Secret objects of an inventory's manifests: `data` as written and decoded, and `stringData`. */
export const secretData = ({ manifests, network }: Inventory): readonly Secret[] =>
  [...manifests, ...network.manifests, ...(network.loadBalancers?.manifests ?? [])]
    .flatMap(({ objects }) => objects.flatMap(valuesOf))
    .map((value) => Secret.of(value));
