import { containerRuntime } from '../../runtime/runtimes.value.ts';
import { minorOf } from '../../versions.ts';
import type { RepositorySource } from '../inventory.ts';
import type { Path } from '../schema/rule.ts';
import type { InventoryFile } from '../schema/schema.ts';
import { hasOwnRuntimes, runtimeFileOf } from './levels.ts';
import { type Reader, reason } from './reader.ts';
import { isUrl, type Sources } from './sources.ts';

/** A key file of the inventory that cannot be read on this machine. */
interface MissingKey {
  readonly path: Path;
  readonly message: string;
}

const listed = (files: string | readonly string[] | undefined): readonly string[] => [files ?? []].flat();

/**
 * Key files that this machine cannot read. It is no mistake of the inventory: another machine, e.g. that of a pipeline
 * which only validates, need not have them.
 */
export async function missingKeys(
  { ssh, hosts }: Pick<InventoryFile, 'ssh' | 'hosts'>,
  folder: string,
  { locate, read }: Pick<Sources, 'locate' | 'read'>,
): Promise<readonly MissingKey[]> {
  const named = [
    ...listed(ssh.identityFile).map((file) => ({ path: ['ssh', 'identityFile'] as Path, file })),
    ...hosts.flatMap((host, i) =>
      listed(host.ssh.identityFile).map((file) => ({ path: ['hosts', i, 'ssh', 'identityFile'] as Path, file })),
    ),
  ];
  const found = await Promise.all(
    named.map(async ({ path, file }): Promise<readonly MissingKey[]> => {
      try {
        await read(locate(file, folder), 1);
        return [];
      } catch (error) {
        return [
          {
            path,
            message:
              `${file}: ${reason(error)}; kbuild logs in with this key: correct the path, or make a key: ` +
              `ssh-keygen -t ed25519 -f ${file}`,
          },
        ];
      }
    }),
  );
  return found.flat();
}

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
