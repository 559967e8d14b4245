/** The Helm that kbuild runs: that of PATH, or one that it downloads once. */
import { createHash, randomUUID } from 'node:crypto';
import { chmod, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { arch, homedir, platform, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** The environment of a process. */
export type Env = Readonly<Record<string, string | undefined>>;

/** The version that kbuild downloads where PATH has no Helm that it supports. */
const VERSION = 'v3.19.0';
const SITE = 'https://get.helm.sh';

/** SHA-256 of SITE/helm-VERSION-PLATFORM.tar.gz, by platform: https://github.com/helm/helm/releases/tag/v3.19.0 */
const ARCHIVES: Readonly<Record<string, string>> = {
  'darwin-amd64': '09a108c0abda42e45af172be65c49125354bf7cd178dbe10435e94540e49c7b9',
  'darwin-arm64': '31513e1193da4eb4ae042eb5f98ef9aca7890cfa136f4707c8d4f70e2115bef6',
  'linux-amd64': 'a7f81ce08007091b86d8bd696eb4d86b8d0f2e1b9f6c714be62f82f96a594496',
  'linux-arm64': '440cf7add0aee27ebc93fada965523c1dc2e0ab340d4348da2215737fc0d76ad',
};

/** Archives of 3.19 have 17 MB, and the program in them has 60 MB. */
const MAX_ARCHIVE = 64 * 1024 * 1024;
const MAX_UNPACKED = 256 * 1024 * 1024;

/** Where Helm is published. */
export interface HelmSite {
  /** Fetches at most `limit` bytes. */
  readonly fetch: (url: string, limit: number) => Promise<Uint8Array>;
  /** The system and architecture, as Go calls them. */
  readonly platform: string;
  /** SHA-256 of the archives, by platform. */
  readonly archives: Readonly<Record<string, string>>;
}

/** The published Helm, for this machine. */
export const publishedHelm = (fetch: HelmSite['fetch']): HelmSite => ({
  fetch,
  platform: `${platform()}-${arch() === 'x64' ? 'amd64' : arch()}`,
  archives: ARCHIVES,
});

/** The SHA-256 of bytes. */
export const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** A folder of kbuild's in the user's cache, as the XDG Base Directory Specification 0.8 says. */
export function cacheFolder(env: Env, name: string): string {
  const given = env['XDG_CACHE_HOME'];
  const cache = given !== undefined && isAbsolute(given) ? given : join(env['HOME'] ?? homedir(), '.cache');
  return join(cache, 'kbuild', name);
}

const BLOCK = 512;

/** The content of one file of a tar archive (POSIX ustar). @throws Error if the archive does not have it */
function fileIn(tar: Uint8Array, wanted: string): Uint8Array {
  const text = (at: number, length: number): string =>
    Buffer.from(tar.subarray(at, at + length))
      .toString('latin1')
      .split('\0', 1)[0]!;
  for (let at = 0; at + BLOCK <= tar.length;) {
    const name = text(at, 100);
    const size = Number.parseInt(text(at + 124, 12).trim() || '0', 8);
    if (name === '' || !Number.isSafeInteger(size) || size < 0) break;
    const start = at + BLOCK;
    if (name === wanted && start + size <= tar.length) return tar.subarray(start, start + size);
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
  throw new Error(`the archive has no ${wanted}`);
}

/** True for a program that this user alone can have put there. */
async function isOwnProgram(path: string): Promise<boolean> {
  try {
    const { uid, mode } = await stat(path);
    return uid === userInfo().uid && (mode & 0o022) === 0;
  } catch {
    return false;
  }
}

/** Puts a program into the cache, whole or not at all. */
async function keep(folder: string, path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const made = join(folder, `.${randomUUID()}`);
  try {
    await writeFile(made, bytes, { mode: 0o600, flag: 'wx' });
    await chmod(made, 0o700);
    await rename(made, path);
  } finally {
    await rm(made, { force: true });
  }
}

/**
 * The path of the Helm that kbuild downloads, verifies by its SHA-256 and keeps in the user's cache.
 * @throws Error if there is none for this platform, or if it cannot be fetched
 */
export async function downloadedHelm(env: Env, { fetch, platform, archives }: HelmSite): Promise<string> {
  const sha256 = archives[platform];
  if (sha256 === undefined) throw new Error(`kbuild downloads no Helm for ${platform}`);
  const folder = cacheFolder(env, 'helm');
  const path = join(folder, `helm-${VERSION}-${platform}`);
  if (await isOwnProgram(path)) return path;
  const url = `${SITE}/helm-${VERSION}-${platform}.tar.gz`;
  let archive: Uint8Array;
  try {
    archive = await fetch(url, MAX_ARCHIVE);
  } catch (error) {
    throw new Error(`${url} cannot be fetched (${error instanceof Error ? error.message : String(error)})`);
  }
  if (hashOf(archive) !== sha256)
    throw new Error(`${url} has SHA-256 ${hashOf(archive)}, and kbuild expects ${sha256}`);
  await keep(folder, path, fileIn(gunzipSync(archive, { maxOutputLength: MAX_UNPACKED }), `${platform}/helm`));
  return path;
}
