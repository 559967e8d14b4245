import type { DownloadName, Inventory } from '../../inventory/inventory.ts';
import { containerRuntime } from '../../runtime/runtimes.value.ts';

/** Go's name of an architecture, by that of the kernel. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: 'amd64', aarch64: 'arm64' };

/**
 * The architecture of a host as images and published programs name it; the kernel's own name where kbuild knows no
 * other.
 */
export const goArchitecture = (machine: string): string => ARCHITECTURES[machine] ?? machine;

/** Where the programs of one host go, and which it can run. */
interface ProgramPlace {
  readonly architecture: string;
  readonly folder: string;
}

/** One file that a host downloads. */
interface ProgramFile {
  readonly url: string;
  /**
   * The SHA-256 that the file must have, or where it is published. `none`: the inventory names neither. `plain`: the
   * file comes without TLS, where a published checksum proves nothing.
   */
  readonly proof: { readonly sha256: string } | { readonly url: string } | 'none' | 'plain';
  /**
   * Whether its signature is verified. `auto`: where the host has cosign. `none`: it has none, or the inventory says
   * all that counts.
   */
  readonly signature: 'auto' | 'required' | 'none';
  /** `archive`: its programs are unpacked to the folder. */
  readonly kind: 'program' | 'archive';
  readonly folder: string;
  /** Name of the program, or of the archive. */
  readonly name: string;
}

/** A checksum of the inventory replaces the published one, unless the inventory requires signatures. */
function signatureOf({ downloads }: Inventory, from: DownloadName, url: string): ProgramFile['signature'] {
  const { signatures = 'off' } = downloads[from];
  if (signatures === 'required') return 'required';
  return signatures === 'off' || downloads.sha256[url] !== undefined ? 'none' : 'auto';
}

/** Where kubelets and runtimes look for CNI plugins. */
const CNI_FOLDER = '/opt/cni/bin';

const withProof = (
  { downloads }: Inventory,
  checksums: string | undefined,
  file: Omit<ProgramFile, 'proof'>,
): ProgramFile => {
  const pinned = downloads.sha256[file.url];
  if (pinned !== undefined) return { ...file, proof: { sha256: pinned } };
  if (file.url.startsWith('http:') && file.signature !== 'required') return { ...file, proof: 'plain' };
  if (checksums === undefined) return { ...file, proof: 'none' };
  const folder = file.url.slice(0, file.url.lastIndexOf('/'));
  const url = checksums.replaceAll('{url}', file.url).replaceAll('{folder}', folder);
  return { ...file, proof: { url } };
};

/**
 * The files of one package of kbuild's at a version, for a host; empty for a package that is published in no other
 * form.
 */
export function programFiles(
  inventory: Inventory,
  { architecture, folder }: ProgramPlace,
  name: string,
  version: string,
): readonly ProgramFile[] {
  const { downloads, runtime } = inventory;
  const file = (from: DownloadName, at: string, rest: Pick<ProgramFile, 'kind' | 'folder' | 'name'>): ProgramFile => {
    const place = (text: string): string =>
      text.replaceAll('{version}', at).replaceAll('{arch}', architecture).replaceAll('{name}', rest.name);
    const { url: pattern, checksums } = downloads[from];
    const url = place(pattern);
    const signature = signatureOf(inventory, from, url);
    return withProof(inventory, checksums === undefined ? undefined : place(checksums), { url, signature, ...rest });
  };
  switch (name) {
    case 'kubelet':
    case 'kubeadm':
    case 'kubectl':
      return [file('kubernetes', version, { kind: 'program', folder, name })];
    case 'kubernetes-cni':
      return [file('cniPlugins', version, { kind: 'archive', folder: CNI_FOLDER, name: 'cni-plugins' })];
    case 'cri-tools':
      return [file('crictl', version, { kind: 'archive', folder, name: 'crictl' })];
    case runtime.package:
      return (containerRuntime(inventory).published?.files(version) ?? []).map(({ from, version: own, ...rest }) =>
        file(from, downloads[from].version ?? own ?? version, { ...rest, folder }),
      );
    default:
      return (containerRuntime(inventory).programs ?? [])
        .filter((program) => program.name === name)
        .map(({ from, kind }) => file(from, version, { kind, folder, name }));
  }
}

/** The programs that the runtime needs beside its packages: name → version. */
export const runtimePrograms = (inventory: Inventory): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (containerRuntime(inventory).programs ?? []).map(({ name, from, version }) => [
      name,
      inventory.downloads[from].version ?? version,
    ]),
  );

/** The version for a package of which any will do: the inventory's, or kbuild's default. */
export function anyVersion({ downloads, kubernetes }: Inventory, name: string): string {
  if (name === 'kubernetes-cni') return downloads.cniPlugins.version ?? '1.9.1';
  return downloads.crictl.version ?? `${kubernetes.minor}.0`;
}
