import type { Inventory, LinuxHost } from '../../inventory/inventory.ts';
import { paths } from '../../paths.ts';
import { madeOf, madeOfAll, Secret } from '../../shell/secret.ts';
import { script, using } from '../../templates.ts';
import { proxyParameters } from '../proxy.value.ts';
import { onEach, type Surveyed, type Surveyor } from '../surveyor.survey.ts';
import type { OsRelease } from './distribution.value.ts';
import { distributionOf } from './distributions.value.ts';
import { readKeyFile } from './openpgp.value.ts';
import { goArchitecture } from './sources.value.ts';

/** Login and authority of a registry. */
interface Access {
  readonly host: string;
  /** PEM text of a private CA. */
  readonly ca?: string;
  /** A header line. */
  readonly authorization?: Secret;
}

/** A file, package or image that a host will download. */
export interface Wanted {
  readonly kind: 'repository' | 'packages' | 'key' | 'image' | 'tags';
  /** Its name in messages, e.g. an image's name. */
  readonly what: string;
  /** Its possible URLs, tried in order: mirrors first. */
  readonly urls: readonly string[];
  /** Of `packages`: how the version begins. Of a `key`: its fingerprint. */
  readonly word?: string;
  /** Of `image` and `tags`: the registry with its login and CA. */
  readonly registry?: Access;
}

/**
 * Why a download from one URL will fail. `silent`: no HTTP server answered. `failed`: it answered with an error status,
 * such as
 * 503. `missing`: it does not have the file. `wrong`: the file has another version or key. `refused`: it rejects the
 * login. `foreign`: the image is for other architectures than the host's.
 */
export interface Fault {
  readonly url: string;
  readonly kind: 'silent' | 'failed' | 'missing' | 'wrong' | 'refused' | 'foreign';
  readonly why: string;
}

/** A download that no URL has, with the reason for each URL. */
export interface NotThere {
  readonly wanted: Wanted;
  readonly faults: readonly Fault[];
}

/** The HTTP status in a download's output; undefined if no server answered. */
const statusIn = (text: string): string | undefined => /^(?:status )?([345]\d\d)(?:\s|$)/.exec(text)?.[1];

/** Why a download will fail, from the host's answer for one URL; undefined if it will succeed. */
function fault(wanted: Wanted, answer: string | undefined): Omit<Fault, 'url'> | undefined {
  if (answer === undefined) return { kind: 'silent', why: 'was not asked for' };
  const [state = '', ...rest] = answer.split(' ');
  if (state === 'missing') return { kind: 'missing', why: 'is not there (404)' };
  if (state === 'refused')
    return { kind: 'refused', why: `is not given to the login of the inventory (${rest.join(' ')})` };
  if (state === 'foreign')
    return { kind: 'foreign', why: `has it for ${rest.filter((word) => word !== '').join(', ')}` };
  if (state === 'versionless') {
    const forWhich = rest.length === 0 ? '' : ` for ${rest.join(' ')}`;
    return { kind: 'wrong', why: `has no version ${wanted.word ?? ''}${forWhich}` };
  }
  if (state !== 'there') {
    const text = rest.join(' ').replace(/^Failed to fetch \S+\s*/, '');
    const status = statusIn(text);
    return status === undefined
      ? { kind: 'silent', why: text }
      : { kind: 'failed', why: `answers with status ${status}` };
  }
  if (wanted.kind !== 'key' || wanted.word === undefined) return undefined;
  try {
    const found = readKeyFile(Buffer.from(rest.join(''), 'base64')).keys.map(({ fingerprint }) => fingerprint);
    return found.length > 0 && found.every((fingerprint) => fingerprint === wanted.word)
      ? undefined
      : { kind: 'wrong', why: `is the key ${found.join(', ')}, and the inventory pins ${wanted.word}` };
  } catch (error) {
    return { kind: 'wrong', why: `is no key: ${(error as Error).message}` };
  }
}

/** Reads which downloads will fail, from lines `KIND URL ANSWER`. */
export function readDownloads(wanted: readonly Wanted[], out: string): readonly NotThere[] {
  const answers = new Map(
    out.split('\n').flatMap((line) => {
      const [, key, answer] = /^(\S+ \S+) (.*)$/.exec(line) ?? [];
      return key === undefined ? [] : [[key, answer!] as const];
    }),
  );
  return wanted.flatMap((download) => {
    const faults = download.urls.flatMap((url): readonly Fault[] => {
      const found = fault(download, answers.get(`${download.kind} ${url}`));
      return found === undefined ? [] : [{ url, ...found }];
    });
    // One working URL is enough. After a registry that has the image for others, none is asked.
    if (faults.length < download.urls.length) return [];
    const last = faults.findIndex(({ kind }) => kind === 'foreign');
    return [{ wanted: download, faults: last === -1 ? faults : faults.slice(0, last + 1) }];
  });
}

/**
 * Logins and authorities of registries, as the survey's script reads them on its stdin: lines of a file's name and its
 * base64.
 */
interface Accesses {
  /** The file of each registry, without its ending. */
  readonly names: ReadonlyMap<string, string>;
  /** undefined where there are none. */
  readonly input: Secret | undefined;
}

function accessesOf(wanted: readonly Wanted[]): Accesses {
  const accesses = new Map(
    wanted.flatMap(({ registry }) => (registry === undefined ? [] : [[registry.host, registry]])),
  );
  if (accesses.size === 0) return { names: new Map(), input: undefined };
  const names = new Map([...accesses.keys()].map((name, index) => [name, String(index)] as const));
  const lines = [...accesses.values()].flatMap(({ host, ca, authorization }) => {
    const line = (ending: string, text: string): string =>
      `${names.get(host)!}.${ending} ${Buffer.from(text).toString('base64')}\n`;
    return [
      ...(ca === undefined ? [] : [Secret.of(line('ca', ca))]),
      ...(authorization === undefined ? [] : [madeOf(authorization, (text) => line('header', text))]),
    ];
  });
  return { names, input: madeOfAll(lines, (texts) => texts.join('')) };
}

/** Tries on every host what it will download, and returns the downloads that will fail. */
export const downloads = (
  on: Surveyor,
  hosts: readonly {
    readonly host: LinuxHost;
    readonly facts: { readonly osRelease: OsRelease; readonly arch: string };
    readonly wanted: readonly Wanted[];
  }[],
  proxy: Inventory['proxy'],
): Promise<readonly Surveyed<readonly NotThere[]>[]> =>
  onEach(
    hosts.map(({ host }) => host),
    async (host) => {
      const { facts, wanted } = hosts.find((candidate) => candidate.host.name === host.name)!;
      if (wanted.length === 0) return [];
      const { downloader } = distributionOf(host, facts);
      const { names, input } = accessesOf(wanted);
      const WANTED = wanted
        .map(({ kind, urls, word, registry }) =>
          [kind, word ?? names.get(registry?.host ?? '') ?? '-', ...urls].join(' '),
        )
        .join('\n');
      const parameters = {
        ...{ WANTED, ACCESS_IN: input === undefined ? '' : paths.run, ARCHITECTURE: goArchitecture(facts.arch) },
        ...proxyParameters(proxy),
      };
      const printed = await on(host).run(
        using(downloader, script('host/packages/survey-downloads.sh', parameters)),
        input,
      );
      return readDownloads(wanted, printed);
    },
  );
