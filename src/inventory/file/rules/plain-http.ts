import type { Download, DownloadName } from '../../inventory.ts';
import { type Path, problem, type Rule, type Violation } from '../../schema/rule.ts';
import type { InventoryFile } from '../../schema/schema.ts';
import { WINDOWS_DOWNLOADS } from '../../schema/windows.ts';
import type { WindowsSettings } from '../../windows-settings.ts';
import { windowsOf } from '../windows.ts';

/** True for a URL without TLS. URL schemes are case-insensitive, but the schema accepts lower case alone. */
const isPlain = (url: string): boolean => url.startsWith('http:');

const WHY = 'over plain http another machine on the way can replace programs that run as root; use https://, or name';

/** The sources of programs: all of `downloads` but the checksums. */
const sourcesOf = ({ downloads }: InventoryFile): readonly DownloadName[] =>
  Object.keys(downloads).filter((name): name is DownloadName => name !== 'sha256');

/** A text as a part of a regular expression. */
const literal = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** True if the inventory has the SHA-256 of a file at this address, whatever the host's architecture. */
function isPinned({ downloads: { sha256 } }: InventoryFile, pattern: string): boolean {
  const address = new RegExp(`^${literal(pattern).replaceAll(/\\\{(?:version|arch)\\\}/g, '[^/]+')}$`);
  return Object.keys(sha256).some((url) => address.test(url));
}

/** The addresses of a download, with the version of Kubernetes and the names of its programs filled in. */
const addressesOf = ({ kubernetes, downloads }: InventoryFile, from: DownloadName): readonly string[] =>
  from === 'kubernetes'
    ? ['kubeadm', 'kubelet', 'kubectl'].map((name) =>
        downloads.kubernetes.url.replaceAll('{version}', kubernetes.version).replaceAll('{name}', name),
      )
    : [downloads[from].url];

/**
 * Programs of Linux hosts that come without TLS have a SHA-256 in the inventory, or must have a signature: a published
 * checksum would come by the same way. Which architecture a host has is not known here; `programFiles` decides again
 * for each file.
 */
const linuxDownloads: Rule = (file) =>
  sourcesOf(file).flatMap((from) => {
    const { url, signatures }: Download = file.downloads[from];
    if (!isPlain(url) || signatures === 'required') return [];
    if (addressesOf(file, from).every((address) => isPinned(file, address))) return [];
    const or = from === 'kubernetes' ? ', or set downloads.kubernetes.signatures: required' : '';
    return [problem(['downloads', from, 'url'], `${WHY} the SHA-256 of each file below downloads.sha256${or}`)];
  });

/**
 * The programs of a Windows host that come from a source and have no SHA-256 otherwise: nssm and those of the network
 * must have one.
 */
type WindowsSource = keyof typeof WINDOWS_DOWNLOADS;

/**
 * True if the inventory has a SHA-256 for what comes from the source: programs of Kubernetes, or an archive with the
 * source's name.
 */
const isPinnedOnWindows = ({ downloads }: WindowsSettings, from: WindowsSource): boolean =>
  from === 'kubernetes'
    ? ['kubelet.exe', 'kubeadm.exe'].every((name) => downloads.sha256[name] !== undefined)
    : Object.keys(downloads.sha256).some((name) => name.startsWith(`${from}-`));

const windowsViolations = (settings: WindowsSettings, at: (from: WindowsSource) => Path): readonly Violation[] =>
  (Object.keys(WINDOWS_DOWNLOADS) as readonly WindowsSource[]).flatMap((from) =>
    isPlain(settings.downloads[from]) && !isPinnedOnWindows(settings, from)
      ? [problem(at(from), `${WHY} the SHA-256 of each file below windows.downloads.sha256`)]
      : [],
  );

/** The same for Windows hosts, each with its own settings. */
const windowsDownloads: Rule = (file) =>
  file.hosts.flatMap((host, i) =>
    host.os === 'windows'
      ? windowsViolations(windowsOf(file, host.windows), (from) => [
          ...(Object.hasOwn(host.windows.downloads ?? {}, from) ? ['hosts', i] : []),
          ...['windows', 'downloads', from],
        ])
      : [],
  );

/** A login goes only over TLS: to the registry, and to each of its mirrors. */
const logins: Rule = ({ runtime }) =>
  runtime.registries.flatMap(({ mirrors, username, password }, i) =>
    username === undefined && password === undefined
      ? []
      : mirrors.flatMap((url, j) =>
          isPlain(url)
            ? [
                problem(
                  ['runtime', 'registries', i, 'mirrors', j],
                  'the login would go over plain http, which every machine on the way can read; use https://, or ' +
                    'remove username and password',
                ),
              ]
            : [],
        ),
  );

/** Nothing that decides what runs as root, and no login, goes over plain http. */
export const plainHttp: Rule = (file) => [...linuxDownloads(file), ...windowsDownloads(file), ...logins(file)];
