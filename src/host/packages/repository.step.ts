import type { Change, Step, Target } from '../../engine/step.ts';
import { CommandError, Refused } from '../../errors.ts';
import type { Inventory, PackageRepository, RepositorySource } from '../../inventory/inventory.ts';
import { OWN_HEADER } from '../../paths.ts';
import { sh } from '../../shell/sh.ts';
import type { On } from '../../ssh/remote.ts';
import { script, using } from '../../templates.ts';
import { fileChanges } from '../file.step.ts';
import { bypassesProxy, proxyParameters } from '../proxy.value.ts';
import type { Distribution } from './distribution.value.ts';
import {
  changedDistribution,
  distributionOf,
  everyRepositoryFiles,
  notSupported,
  placed,
  placedRepository,
  proxyFiles,
} from './distributions.value.ts';
import { getsBinaries, systemRuntime } from './installer.value.ts';
import { type KeyFile, readKeyFile } from './openpgp.value.ts';
import type { PackageManager, RepositoryId, Route } from './package-manager.value.ts';
import { dayOf, endingDay } from './packages.facts.ts';

/** The signing key of a repository and its file on the host. */
interface SigningKey {
  readonly keyring: string;
  readonly repository: RepositorySource;
}

/** kbuild fetches a key that expires soon again after this time, in ms. */
const RETRY_MS = 24 * 60 * 60_000;

async function fetchedKey(on: On, target: Target, { key }: RepositorySource): Promise<Buffer> {
  if ('content' in key) return Buffer.from(key.content, 'latin1');
  const { inventory, host, facts } = target;
  const distribution = distributionOf(host, facts);
  const parameters = { URL: placed(key.url, distribution, facts), ...proxyParameters(inventory.proxy) };
  const fetch = using(distribution.downloader, script('host/packages/fetch.sh', parameters));
  return Buffer.from(await on(host).run(fetch), 'base64');
}

const isPinned = (found: readonly string[], pin: string): boolean =>
  found.length > 0 && found.every((fingerprint) => fingerprint === pin);

/** The package manager trusts every key of the file, so each of them must be the pinned one. */
function pinned(subject: string, file: Buffer, pin: string): KeyFile {
  let read: KeyFile;
  try {
    read = readKeyFile(file);
  } catch (error) {
    throw new Refused(
      'signing-key',
      subject,
      `the repository's signing key cannot be read: ${(error as Error).message}`,
    );
  }
  const found = read.keys.map(({ fingerprint }) => fingerprint);
  if (isPinned(found, pin)) return read;
  const state = found.length === 0 ? 'holds no key' : `is ${found.join(', ')}`;
  throw new Refused(
    'signing-key',
    subject,
    `the repository's signing key ${state}, and the inventory pins ${pin}`,
    'compare the fingerprint with the one that the vendor publishes, then correct repository.key or ' +
      'repository.fingerprint',
  );
}

const endOf = ({ keys }: KeyFile): number =>
  Math.min(...keys.map(({ end }) => (typeof end === 'number' ? end : Infinity)));

/** Writes only the packets that were checked: the package manager would trust everything else in the file, too. */
const writeKey = (summary: string, target: Target, { repository, keyring }: SigningKey): Change => ({
  summary,
  apply: async (on) => {
    const { host, facts } = target;
    const key = pinned(host.name, await fetchedKey(on, target, repository), repository.fingerprint);
    if (endOf(key) < facts.nowMs)
      throw new Refused(
        'signing-key',
        host.name,
        `the repository's signing key ${repository.fingerprint} ran out on ${dayOf(endOf(key))}`,
        'the vendor may have extended it: give the newer copy as repository.key; otherwise compare the clock of ' +
          'the host',
      );
    await on(host).write(keyring, key.armoured, 0o644);
  },
});

/**
 * Fetches the newer copy of a key that a vendor has extended. If there is none, the host keeps its copy, and the time
 * stamp of the file records the attempt: kbuild tries once a day.
 */
const renewKey = (day: string, target: Target, { repository, keyring }: SigningKey, knownEnd: number): Change => ({
  summary: `fetch ${keyring} again (its key runs out on ${day})`,
  apply: async (on) => {
    const { host } = target;
    const keep = sh`touch ${keyring}`;
    let fetched: Buffer;
    try {
      fetched = await fetchedKey(on, target, repository);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      await on(host).run(keep);
      return;
    }
    const key = pinned(host.name, fetched, repository.fingerprint);
    if (endOf(key) > knownEnd) await on(host).write(keyring, key.armoured, 0o644);
    else await on(host).run(keep);
  },
});

/** True when the key of the inventory is valid, and for longer than the copy on the host. */
function isLonger(content: string, pin: string, end: number, nowMs: number): boolean {
  try {
    return endOf(pinned('', Buffer.from(content, 'latin1'), pin)) > Math.max(end, nowMs);
  } catch {
    return false;
  }
}

function keyChanges(target: Target, signing: SigningKey): readonly Change[] {
  const { facts } = target;
  const { keyring, repository } = signing;
  const { fingerprint: pin, key } = repository;
  const found = facts.keyrings.get(keyring);
  const write = (state: string) => [writeKey(`write ${keyring} with the key ${pin} (found ${state})`, target, signing)];
  if (found === undefined) return write('none');
  if (!isPinned(found.fingerprints, pin))
    return write(found.fingerprints.length === 0 ? 'no key in it' : found.fingerprints.join(', '));
  const { end } = found;
  if (typeof end !== 'number') return [];
  if ('content' in key)
    return isLonger(key.content, pin, end, facts.nowMs) ? write(`a copy that runs out on ${dayOf(end)}`) : [];
  const day = endingDay(end, facts.nowMs);
  return day === undefined || facts.nowMs - found.writtenMs < RETRY_MS ? [] : [renewKey(day, target, signing, end)];
}

/** The hosts of the repositories and their keys that package managers reach without the proxy. */
function directHosts({ proxy, kubernetes, runtime }: Inventory): readonly string[] {
  const urls = [kubernetes, runtime]
    .flatMap(({ repository }) => [repository, repository.rpm])
    .flatMap(({ url, key }) => ('url' in key ? [url, key.url] : [url]));
  const hosts = urls.map((url) => new URL(url.replaceAll(/[{}]/g, '')).hostname);
  return [...new Set(hosts)].filter((host) => bypassesProxy(proxy?.noProxy ?? [], host));
}

/** How the hosts' package managers reach the repositories of the inventory. */
const packageRoute = (inventory: Inventory): Route => ({
  proxy: inventory.proxy,
  direct: directHosts(inventory),
});

/**
 * The changes of one file of a repository; none on a host that gets no packages from it. On an unsupported
 * distribution: a change whose apply refuses.
 */
function changesOf(
  target: Target,
  id: RepositoryId,
  what: string,
  changes: (manager: PackageManager, distribution: Distribution) => readonly Change[],
): readonly Change[] {
  const { host, facts } = target;
  if (getsBinaries(target) || systemRuntime(target, [id]) !== undefined) return [];
  const distribution = changedDistribution(facts);
  return distribution?.packages === undefined
    ? [{ summary: `write ${what} (found none)`, apply: () => Promise.reject(notSupported(host, facts)) }]
    : changes(distribution.packages, distribution);
}

/**
 * Configures a package repository with its pinned signing key, in two steps: first the key, then the source. `also`:
 * further repositories that the same key signs.
 */
export const packageRepository = (
  id: RepositoryId,
  repositoryOf: (inventory: Inventory) => PackageRepository,
  also: (inventory: Inventory) => readonly PackageRepository[] = () => [],
): readonly Step[] => [
  {
    name: `${id}-repository-key`,
    watches: { keyrings: everyRepositoryFiles(id).map(({ keyring }) => keyring) },
    diff: (target) =>
      changesOf(target, id, `the signing key of the ${id} repository`, (packages) =>
        keyChanges(target, {
          keyring: packages.repositoryFiles(id).keyring,
          repository: packages.pick(repositoryOf(target.inventory)),
        }),
      ),
  },
  {
    name: `${id}-repository-source`,
    watches: { files: everyRepositoryFiles(id).map(({ source }) => source) },
    diff: (target) =>
      changesOf(target, id, `the source of the ${id} repository`, (packages, distribution) => {
        const { inventory, facts } = target;
        const all = [repositoryOf(inventory), ...also(inventory)];
        const sources = all.map((repository) =>
          packages.repository(
            id,
            placedRepository(packages.pick(repository), distribution, facts),
            packageRoute(inventory),
          ),
        );
        const content = [...new Set(sources)].join('');
        return fileChanges(target, {
          path: packages.repositoryFiles(id).source,
          content: `${OWN_HEADER}.\n${content}`,
        });
      }),
  },
];

/** Configures the package manager's proxy. Removes its file if the inventory has no proxy. */
export const packagesProxy: Step = {
  name: 'apt-proxy',
  watches: { files: proxyFiles },
  diff: (target) => {
    const { inventory, facts } = target;
    const proxyFile = changedDistribution(facts)?.packages?.proxyFile;
    if (proxyFile === undefined) return [];
    const content = proxyFile.content(packageRoute(inventory));
    return fileChanges(target, {
      path: proxyFile.path,
      content: content === undefined ? undefined : `${OWN_HEADER}.\n${content}`,
    });
  },
};
