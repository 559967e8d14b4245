/** A site laid out as those that users download from, of what the lab has built: to try downloads without the internet. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, readFileSync } from 'node:fs';
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
  close: () => void;
}

const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

/** Names under which projects publish checksums beside an archive. */
const SUMS = /\.sha256(?:sum)?$/;

/** Serves the files below a folder, their checksums under the names that the projects use, and `SHA256SUMS` of each folder. */
export async function publishedSite(folder: string): Promise<PublishedSite> {
  let tampered = '';
  const server = createServer(({ url = '' }, response) => {
    const file = join(folder, decodeURIComponent(url));
    const archive = file.replace(SUMS, '');
    if (basename(file) === 'SHA256SUMS' && existsSync(dirname(file))) {
      const name = `etcd-${basename(dirname(file))}-linux-amd64.tar.gz`;
      return response.end(`${sha256(join(dirname(file), name))}  ${name}\n`);
    }
    if (!existsSync(archive)) return response.writeHead(404).end();
    if (archive !== file) return response.end(`${sha256(archive)}  ${basename(archive)}\n`);
    const stream = createReadStream(file);
    stream.on('data', (chunk) => response.write(chunk));
    return stream.on('end', () => response.end(tampered !== '' && file.endsWith(tampered) ? 'x' : ''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    tamper: (end) => {
      tampered = end;
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
  await run('tar', ['-C', tree, '-czf', join(folder, path), ...members]);
  await rm(tree, { recursive: true });
}
