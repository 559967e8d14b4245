import { type Fleet, type Kind, linuxFacts } from '../cluster/fleet/fleet.ts';
import { withInventory } from '../engine/combinators.ts';
import type { Step } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { distributionOf, placedRepository } from '../host/packages/distributions.value.ts';
import { getsBinaries } from '../host/packages/installer.value.ts';
import { proxyParameters } from '../host/proxy.value.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { merged } from '../inventory/merge.ts';
import type { On } from '../ssh/remote.ts';
import { script, using } from '../templates.ts';
import { compareVersions, minorOf } from '../versions.ts';
import { atVersion } from './at-version.value.ts';

/** One step of an upgrade: from one Kubernetes version to the next, at most one minor newer. Without `v`. */
export interface Hop {
  /** Missing where hosts come from different versions. */
  readonly from?: string;
  readonly version: string;
}

/** The hops from a running version through these versions. */
export const hopsThrough = (from: string, versions: readonly string[]): readonly Hop[] =>
  versions.map((version, at) => ({ from: versions[at - 1] ?? from, version }));

/** The step as it is for an inventory that names the version of this hop. */
export const atHop = <K extends Kind>({ version }: Hop, step: Step<K>): Step<K> =>
  withInventory(step, ({ inventory }) => atVersion(inventory, version));

/**
 * What is shown as found: an earlier hop brings it to the version from which this one starts. A hop without distance
 * comes alone.
 */
export const foundAt = ({ from, version }: Hop, found: string): string =>
  from === undefined || from === version || (/^\d/.test(found) && compareVersions(found, from) > 0) ? found : from;

/**
 * The oldest patch of etcd 3.6 whose members may be upgraded to 3.7 one by one (etcd's guide "Upgrade etcd from 3.6 to
 * 3.7").
 */
const ETCD_BEFORE_3_7 = '3.6.11';

/** The first minor whose kubeadm brings etcd 3.7 (kubeadm's constants.go). */
const FIRST_WITH_ETCD_3_7 = '1.37';

/** The etcd that every member must have before the hop; undefined if any will do. kubeadm checks nothing of it. */
export const etcdBefore = ({ version }: Hop): string | undefined =>
  compareVersions(minorOf(version), FIRST_WITH_ETCD_3_7) < 0 ? undefined : ETCD_BEFORE_3_7;

/** The inventory as if it named this image of etcd. */
export function withEtcdTag(inventory: Inventory, imageTag: string): Inventory {
  const cluster = merged(inventory.kubeadm.cluster, { etcd: { local: { imageTag } } });
  return { ...inventory, kubeadm: { ...inventory.kubeadm, cluster } };
}

/** The way of an upgrade, and what is not known about it. */
interface Hops {
  /** Versions in order, one a minor, the last is the desired one; a missing minor is left out. */
  readonly hops: readonly string[];
  /** Minors in between for which no patch version was given, oldest first. */
  readonly missing: readonly string[];
}

const numbers = (version: string): readonly [number, number] => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return [major, minor];
};

const newest = (versions: readonly string[]): string | undefined => versions.toSorted(compareVersions).at(-1);

/**
 * The versions through which an upgrade goes, because kubeadm and API servers move one minor at a time. `via`: versions
 * for the minors in between; of several for one minor the newest counts, others are ignored. `begun`: versions to which
 * an upgrade has begun; in between they count before all others, for what was begun is finished as it was begun.
 * Versions without `v`. No hops if the versions are equal, or if `to` is older.
 */
export function hopsOf(from: string, to: string, via: readonly string[], begun: readonly string[] = []): Hops {
  const of = (versions: readonly string[], minor: string): string | undefined =>
    newest(versions.filter((version) => minorOf(version) === minor));
  if (compareVersions(from, to) >= 0) return { hops: [], missing: [] };
  const [major, first] = numbers(from);
  const [, last] = numbers(to);
  const between = Array.from({ length: Math.max(0, last - first - 1) }, (_, i) => {
    const minor = `${String(major)}.${String(first + 1 + i)}`;
    return { minor, version: of(begun, minor) ?? of(via, minor) };
  });
  return {
    hops: [...between.flatMap(({ version }) => version ?? []), to],
    missing: between.filter(({ version }) => version === undefined).map(({ minor }) => minor),
  };
}

/** The newest version of kubeadm of a minor in a repository's list of packages; undefined if there is none. */
export function newestOf(minor: string, packages: string): string | undefined {
  const versions = packages.split(/\n\s*\n/).flatMap((entry) => {
    if (!/^Package: kubeadm$/m.test(entry)) return [];
    const version = /^Version: (?:\d+:)?(\d+\.\d+\.\d+)(?:-|$)/m.exec(entry)?.[1];
    return version !== undefined && minorOf(version) === minor ? [version] : [];
  });
  return versions.reduce<string | undefined>(
    (newest, version) => (newest === undefined || compareVersions(version, newest) > 0 ? version : newest),
    undefined,
  );
}

/**
 * The newest version of a minor in its package repository, read by a host. Reads only.
 * @throws Refused if the repository does not list its packages in plain text, or has none of the minor; CommandError if
 * it cannot be read
 */
export async function newestPatch(
  inventory: Inventory,
  fleet: Fleet,
  host: LinuxHost,
  minor: string,
  on: On,
): Promise<string> {
  const facts = linuxFacts(fleet, host)!;
  const distribution = distributionOf(host, facts);
  const repository = atVersion(inventory, `${minor}.0`).kubernetes.repository;
  const manager = getsBinaries({ host, facts }) ? undefined : distribution.packages;
  const picked = manager?.pick(repository) ?? repository;
  const packages = manager?.lists(placedRepository(picked, distribution, facts), facts.arch).packages;
  const remedy = `name the version to pass through: kubernetes.via: ['${minor}.…']`;
  if (packages === undefined)
    throw new Refused(
      'version-unpublished',
      inventory.name,
      `the newest Kubernetes ${minor} cannot be told from ${picked.url}`,
      remedy,
    );
  const fetch = script('host/packages/fetch.sh', { URL: packages, ...proxyParameters(inventory.proxy) });
  const list = Buffer.from(await on(host).run(using(distribution.downloader, fetch)), 'base64').toString();
  const found = newestOf(minor, list);
  if (found === undefined)
    throw new Refused(
      'version-unpublished',
      inventory.name,
      `${packages} has no kubeadm of Kubernetes ${minor}`,
      remedy,
    );
  return found;
}
