import { containerRuntime } from '../../runtime/runtimes.value.ts';
import { minorOf } from '../../versions.ts';
import type { RepositorySource } from '../inventory.ts';
import type { Path } from '../schema/path.ts';
import type { InventoryFile } from '../schema/schema.ts';
import { hasOwnRuntimes, runtimeFileOf } from './levels.ts';
import type { Reader } from './reader.ts';
import { isUrl } from './sources.ts';

/** The signing keys of a component's two repositories. */
export interface SigningKeys {
  readonly deb: RepositorySource['key'];
  readonly rpm: RepositorySource['key'];
}

/** Signing keys of runtimes' repositories, by place: see `runtimeKeysOf`. */
export type RuntimeKeys = ReadonlyMap<string, RepositorySource['key']>;

/** Where the signing keys of a component's two repositories are: URL or file. */
type Places = Readonly<Record<'deb' | 'rpm', string>>;

/** The repository's signing key: where a host fetches it, or the key itself. */
const signingKey = async (reader: Reader, path: Path, given: string): Promise<RepositorySource['key']> =>
  isUrl(given) ? { url: given } : { content: await reader.binary(path, given) };

const signingKeys = async (reader: Reader, path: Path, given: Places): Promise<SigningKeys> => ({
  deb: await signingKey(reader, [...path, 'key'], given.deb),
  rpm: await signingKey(reader, [...path, 'rpm', 'key'], given.rpm),
});

/** The places of the signing keys of a runtime's repositories: the inventory's, or below the repository's URL. */
export function runtimeKeysOf({ kubernetes }: InventoryFile, runtime: InventoryFile['runtime']): Places {
  const { repository: defaults } = containerRuntime({ runtime }).defaults;
  const place = (own: { readonly url?: string; readonly key?: string }, { url, key }: { url: string; key: string }) =>
    (own.key ?? `${(own.url ?? url).replace(/\/$/, '')}/${key}`).replaceAll('{minor}', minorOf(kubernetes.version));
  return { deb: place(runtime.repository, defaults), rpm: place(runtime.repository.rpm, defaults.rpm) };
}

/** The places of the signing keys of Kubernetes' repositories. */
function kubernetesKeysOf({ kubernetes }: InventoryFile): Places {
  const { repository } = kubernetes;
  const place = ({ url, key }: { readonly url: string; readonly key?: string }, below: string) =>
    (key ?? `${url}/${below}`).replaceAll('{minor}', minorOf(kubernetes.version));
  return { deb: place(repository, 'Release.key'), rpm: place(repository.rpm, 'repodata/repomd.xml.key') };
}

/** The runtimes of the inventory and of its Linux hosts, as the file says them. */
const runtimesOf = (file: InventoryFile): readonly InventoryFile['runtime'][] => [
  file.runtime,
  ...(hasOwnRuntimes(file) ? file.hosts.map((host) => runtimeFileOf(file, host)) : []),
];

/** The signing keys of Kubernetes' repositories. */
export const kubernetesKeys = (reader: Reader, file: InventoryFile): Promise<SigningKeys> =>
  signingKeys(reader, ['kubernetes', 'repository'], kubernetesKeysOf(file));

/** The signing keys of all runtimes of the inventory; each place is read once. */
export async function runtimeKeys(reader: Reader, file: InventoryFile): Promise<RuntimeKeys> {
  const read = new Map<string, RepositorySource['key']>();
  for (const places of runtimesOf(file).map((runtime) => runtimeKeysOf(file, runtime))) {
    if (read.has(places.deb) && read.has(places.rpm)) continue;
    const { deb, rpm } = await signingKeys(reader, ['runtime', 'repository'], places);
    read.set(places.deb, deb).set(places.rpm, rpm);
  }
  return read;
}
