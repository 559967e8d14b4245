/** A package repository between hosts and the lab's own, which does to what passes what a test says. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GATEWAY, PACKAGES_URL } from './network-plan.ts';

/** What a test makes of a file: other bytes, nothing there, the file as it is, or a byte of it every two seconds. */
type Tampered = Buffer | 'missing' | 'trickle';
export type Tamper = (path: string, content: Buffer) => Tampered | Promise<Tampered>;

const TRICKLE_MS = 2000;

/** A repository that lies. */
export interface BadRepository {
  readonly url: string;
  tamper: Tamper;
  /** Stops listening until `open`. */
  close(): Promise<void>;
  open(): Promise<void>;
}

const fetched = (path: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    request(`${PACKAGES_URL}${path}`, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(Buffer.concat(chunks));
        else reject(new Error(`${path}: ${String(answer.statusCode)}`));
      });
    })
      .on('error', reject)
      .end();
  });

/** Starts it at the lab's gateway; at first it changes nothing. */
export async function badRepository(): Promise<BadRepository> {
  const repository: BadRepository = { url: '', tamper: (_, content) => content, close, open };
  const server = createServer((from, to) => {
    const path = from.url ?? '/';
    let length = 0;
    fetched(path)
      .then(async (content) => {
        length = content.length;
        return repository.tamper(path, content);
      })
      .catch((): 'missing' => 'missing')
      .then((content) => {
        if (content === 'trickle') {
          // The right length: apt refuses any other at once.
          to.writeHead(200, { 'content-length': length });
          const timer = setInterval(() => to.write('x'), TRICKLE_MS);
          to.on('close', () => clearInterval(timer));
        } else if (content === 'missing') to.writeHead(404).end();
        else to.writeHead(200, { 'content-length': content.length }).end(content);
      })
      .catch(() => to.destroy());
  });
  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, GATEWAY, resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  function open(): Promise<void> {
    return listen(port);
  }
  return Object.assign(repository, { url: `http://${GATEWAY}:${String(port)}` });
}
