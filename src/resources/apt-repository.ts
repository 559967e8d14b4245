import type { Change, Step, Target } from '../engine/step.ts';
import { CommandError, Refused } from '../errors.ts';
import { dayOf, endingDay } from '../facts/linux/keyrings.ts';
import type { PackageRepository } from '../model/inventory.ts';
import { osOf } from '../os/index.ts';
import type { On } from '../remote/remote.ts';
import { readKeyFile, type KeyFile } from '../shell/openpgp.ts';
import { sh } from '../shell/sh.ts';
import { file, OURS } from './file.ts';

/** An apt repository and where its files go. */
export interface AptRepository {
  readonly repository: (target: Target) => PackageRepository;
  /** Path of the key file, ending in `.asc`. */
  readonly keyring: string;
  /** Path of the file in sources.list.d. */
  readonly source: string;
}

/** A key that runs out soon is asked for again after so long, in ms. */
const TRIED_MS = 24 * 60 * 60_000;

/** `{distribution}` and `{codename}` of a URL or suite, from what the host is. */
const placed = (text: string, { facts: { osRelease } }: Target): string =>
  text.replaceAll('{distribution}', osRelease.id).replaceAll('{codename}', osRelease.codename);

/** The `deb` line of a repository; a flat one has no suite. */
function sourceLine(target: Target, { url, suite, component }: PackageRepository, keyring: string): string {
  const place = suite === undefined ? '/' : [placed(suite, target), component ?? 'main'].join(' ');
  return `deb [signed-by=${keyring}] ${placed(url, target)} ${place}\n`;
}

async function fetchedKey(on: On, target: Target, { key }: PackageRepository): Promise<Buffer> {
  if ('content' in key) return Buffer.from(key.content, 'latin1');
  const { host, facts } = target;
  return Buffer.from(await on(host).run(osOf(host, facts).fetch(placed(key.url, target))), 'base64');
}

const isPinned = (found: readonly string[], pin: string): boolean =>
  found.length > 0 && found.every((one) => one === pin);

/** apt would trust every key of the file, so all of them must be the pinned one. */
function pinned(subject: string, file: Buffer, pin: string): KeyFile {
  let read: KeyFile;
  try {
    read = readKeyFile(file);
  } catch (error) {
    throw new Refused(subject, `the repository's signing key cannot be read: ${(error as Error).message}`);
  }
  const found = read.keys.map(({ fingerprint }) => fingerprint);
  if (isPinned(found, pin)) return read;
  const state = found.length === 0 ? 'holds no key' : `is ${found.join(', ')}`;
  throw new Refused(
    subject,
    `the repository's signing key ${state}, and the inventory pins ${pin}`,
    'compare the fingerprint with the one that the vendor publishes, then correct repository.key or repository.fingerprint',
  );
}

const endOf = ({ keys }: KeyFile): number =>
  Math.min(...keys.map(({ end }) => (typeof end === 'number' ? end : Infinity)));

/** Writes exactly the packets that were checked: what else a file has, apt would trust unread. */
const writeKey = (name: string, target: Target, { repository, keyring }: AptRepository): Change => ({
  summary: name,
  apply: async (on) => {
    const { host, facts } = target;
    const wanted = repository(target);
    const key = pinned(host.name, await fetchedKey(on, target, wanted), wanted.fingerprint);
    if (endOf(key) < facts.nowMs)
      throw new Refused(
        host.name,
        `the repository's signing key ${wanted.fingerprint} ran out on ${dayOf(endOf(key))}`,
        'the vendor may have extended it: give the newer copy as repository.key; otherwise compare the clock of the host',
      );
    await on(host).write(keyring, key.armoured, 0o644);
  },
});

/**
 * Takes the newer copy of a key that a vendor has extended. Where none can be had, the host keeps its own, and its time
 * stamp says that kbuild has tried: once a day.
 */
const renewKey = (day: string, target: Target, { repository, keyring }: AptRepository, knownEnd: number): Change => ({
  summary: `fetch ${keyring} anew (its key runs out on ${day})`,
  apply: async (on) => {
    const { host } = target;
    const wanted = repository(target);
    const keep = sh`touch ${keyring}`;
    let fetched: Buffer;
    try {
      fetched = await fetchedKey(on, target, wanted);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      await on(host).run(keep);
      return;
    }
    const key = pinned(host.name, fetched, wanted.fingerprint);
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

function keyChanges(target: Target, options: AptRepository): readonly Change[] {
  const { facts } = target;
  const { keyring } = options;
  const { fingerprint: pin, key } = options.repository(target);
  const found = facts.keyrings.get(keyring);
  const write = (state: string) => [writeKey(`write ${keyring} with the key ${pin} (found ${state})`, target, options)];
  if (found === undefined) return write('none');
  if (!isPinned(found.fingerprints, pin))
    return write(found.fingerprints.length === 0 ? 'no key in it' : found.fingerprints.join(', '));
  const { end } = found;
  if (typeof end !== 'number') return [];
  if ('content' in key)
    return isLonger(key.content, pin, end, facts.nowMs) ? write(`a copy that runs out on ${dayOf(end)}`) : [];
  const day = endingDay(end, facts.nowMs);
  return day === undefined || facts.nowMs - found.writtenMs < TRIED_MS ? [] : [renewKey(day, target, options, end)];
}

/** A repository of packages with its pinned signing key: two steps, the key first. */
export const aptRepository = (name: string, options: AptRepository): readonly Step[] => [
  {
    name: `${name}-key`,
    watches: { keyrings: [options.keyring] },
    diff: (target) => keyChanges(target, options),
  },
  file(`${name}-source`, {
    path: options.source,
    content: (target) => `${OURS}.\n${sourceLine(target, options.repository(target), options.keyring)}`,
  }),
];
