import { encryptionKeys } from '../../backup/encryption-keys.ts';
import type { Manifest } from '../../backup/manifest.ts';
import type { LinuxHost } from '../../model/inventory.ts';
import type { JsonObject } from '../../shell/decode.ts';
import type { Remote } from '../../remote/remote.ts';
import type { Secret } from '../../shell/secret.ts';
import type { DocumentOf } from '../../report/documents/index.ts';
import { madeOf } from '../../shell/secret.ts';
import { sh } from '../../shell/sh.ts';
import { script } from '../../templates.ts';

interface Volume {
  readonly hostPath?: string;
  readonly mountPath?: string;
}

/** Where a file of the API server's pod lies on the host. */
function onHost(path: string, configuration: JsonObject): string {
  const { extraVolumes = [] } = (configuration['apiServer'] ?? {}) as { readonly extraVolumes?: readonly Volume[] };
  const volume = extraVolumes
    .filter(
      ({ mountPath = '' }) =>
        mountPath !== '' && (path === mountPath || path.startsWith(`${mountPath.replace(/\/$/, '')}/`)),
    )
    .toSorted((one, other) => (other.mountPath?.length ?? 0) - (one.mountPath?.length ?? 0))[0];
  if (volume?.mountPath === undefined || volume.hostPath === undefined) return path;
  return `${volume.hostPath.replace(/\/$/, '')}${path.slice(volume.mountPath.replace(/\/$/, '').length)}`;
}

/**
 * What encrypts Secrets in etcd: the file that the API server of a control plane reads, and hashes of its keys. undefined if
 * nothing encrypts them. @throws CommandError when the file cannot be read, Error when it is not understood
 */
export async function encryptionAtRest(
  remote: Remote<'sh'>,
  host: LinuxHost,
  configuration: JsonObject,
): Promise<Manifest['encryption']> {
  const manifest = '/etc/kubernetes/manifests/kube-apiserver.yaml';
  const named = (await remote.run(script('linux/encryption-file.sh', { MANIFEST: manifest }))).trim();
  if (named === '') return undefined;
  const path = onHost(named, configuration);
  const encoded: Secret = await remote.reveal(sh`base64 -w 0 -- ${path}`);
  try {
    return { path, keys: [...encryptionKeys(madeOf(encoded, (text) => Buffer.from(text, 'base64').toString('utf8')))] };
  } catch {
    throw new Error(
      `${host.name}: ${path} is not understood as an EncryptionConfiguration, and a backup must name its keys`,
    );
  }
}

/** What encrypts Secrets, as JSON documents have it. */
export const shownEncryption = ({
  path,
  keys,
}: NonNullable<Manifest['encryption']>): NonNullable<DocumentOf<'backup'>['encryption']> => ({
  path,
  keys: keys.map(({ provider, name, sha256 }) => ({ provider, name, ...(sha256 === undefined ? {} : { sha256 }) })),
});
