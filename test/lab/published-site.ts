/** A site laid out as those that users download from, of what the lab has built: to try downloads without the internet. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { run } from './run.ts';

/** A running site. */
export interface PublishedSite {
  readonly url: string;
  /** What is asked for under a path that ends so is served with a byte more than its checksum counts. */
  tamper: (end: string) => void;
  /** What is asked for under a path that ends so is cut off after 100 kB. */
  cut: (end: string) => void;
  close: () => void;
}

/** The SHA-256 of a local file. */
export const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Names under which projects publish checksums beside an archive. */
const SUMS = /\.sha256(?:sum)?$/;

/** The checksums beside a file: bare in the layout of dl.k8s.io, with the file's name elsewhere; or those of all builds of a program. */
function checksums(file: string): string | undefined {
  const archive = file.replace(SUMS, '');
  const line = (path: string): string => `${sha256(path)}  ${basename(path)}\n`;
  if (existsSync(archive)) return file.includes('/bin/linux/') ? `${sha256(archive)}\n` : line(archive);
  if (archive === file || !existsSync(dirname(file))) return undefined;
  const builds = readdirSync(dirname(file)).filter((name) => name.startsWith(`${basename(archive)}.`));
  return builds.length === 0 ? undefined : builds.map((name) => line(join(dirname(file), name))).join('');
}

/**
 * Serves the files below a folder, their checksums under the names that the projects use, and `SHA256SUMS` of each folder.
 * `address`: where; by default only this machine reaches it.
 */
export async function publishedSite(folder: string, address = '127.0.0.1'): Promise<PublishedSite> {
  let tampered = '';
  let cut = '';
  const server = createServer(({ url = '' }, response) => {
    const file = join(folder, decodeURIComponent(url));
    if (basename(file) === 'SHA256SUMS' && existsSync(dirname(file))) {
      const name = `etcd-${basename(dirname(file))}-linux-amd64.tar.gz`;
      return response.end(`${sha256(join(dirname(file), name))}  ${name}\n`);
    }
    if (!existsSync(file)) {
      const sums = checksums(file);
      return sums === undefined ? response.writeHead(404).end() : response.end(sums);
    }
    if (cut !== '' && file.endsWith(cut)) {
      // A server that dies: the length is that of the whole file.
      response.writeHead(200, { 'content-length': statSync(file).size });
      return response.write(readFileSync(file).subarray(0, 100_000), () => response.destroy());
    }
    const stream = createReadStream(file);
    stream.on('data', (chunk) => response.write(chunk));
    return stream.on('end', () => response.end(tampered !== '' && file.endsWith(tampered) ? 'x' : ''));
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return {
    url: `http://${address}:${String((server.address() as AddressInfo).port)}`,
    tamper: (end) => {
      tampered = end;
    },
    cut: (end) => {
      cut = end;
    },
    close: () => server.close(),
  };
}

/** Puts an archive of a project's release into the site's folder: `members` of it, from the folder of an artifact. */
export async function publishRelease(
  folder: string,
  path: string,
  members: readonly string[],
  from: string,
): Promise<void> {
  const tree = join(folder, '.tree');
  for (const member of members) {
    mkdirSync(join(tree, dirname(member)), { recursive: true });
    await cp(join(from, basename(member)), join(tree, member), { dereference: true });
  }
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  await run('tar', ['-C', tree, '-I', 'gzip -1', '-cf', join(folder, path), ...members]);
  await rm(tree, { recursive: true });
}
