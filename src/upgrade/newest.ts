import { distributionOf, placedRepository } from '../components/distributions/index.ts';
import { getsBinaries } from '../components/programs/installer.ts';
import { Refused } from '../errors.ts';
import { linuxFacts, type Fleet } from '../facts/fleet.ts';
import type { Inventory, LinuxHost } from '../model/inventory.ts';
import type { On } from '../remote/remote.ts';
import { script, using } from '../templates.ts';
import { atVersion } from '../topology/at-version.ts';
import { proxyParameters } from '../topology/proxy.ts';
import { compareVersions, minorOf } from '../versions.ts';

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
 * @throws Refused if the repository does not list its packages in plain text, or has none of the minor; CommandError if it cannot
 * be read
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
    throw new Refused(inventory.name, `the newest Kubernetes ${minor} cannot be told from ${picked.url}`, remedy);
  const fetch = script('linux/fetch.sh', { URL: packages, ...proxyParameters(inventory.proxy) });
  const list = Buffer.from(await on(host).run(using(distribution.downloader, fetch)), 'base64').toString();
  const found = newestOf(minor, list);
  if (found === undefined)
    throw new Refused(inventory.name, `${packages} has no kubeadm of Kubernetes ${minor}`, remedy);
  return found;
}
