import type { Path } from '../schema/path.ts';
import type { InventoryFile } from '../schema/schema.ts';
import { reason } from './reader.ts';
import type { Sources } from './sources.ts';

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
            message: `${file}: ${reason(error)}; kbuild logs in with this key: correct the path, or make a key: ssh-keygen -t ed25519 -f ${file}`,
          },
        ];
      }
    }),
  );
  return found.flat();
}
