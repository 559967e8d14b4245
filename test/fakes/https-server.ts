import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Forward } from '../../src/cluster/fleet/https-peer.ts';

const file = (name: string): string =>
  readFileSync(new URL(`../fixtures/https/${name}`, import.meta.url), 'utf8').trim();

/** PEM of test/fixtures/https. */
export const pem = {
  ca: file('ca.crt'),
  otherCa: file('other-ca.crt'),
  server: file('server.crt'),
  serverKey: file('server.key'),
  client: file('client.crt'),
  clientKey: file('client.key'),
};

/**
 * What the server does with a request: an answer, none at all, half of one and then the end of the connection, or the
 * begin of one and later the rest.
 */
export type FakeAnswer =
  | { readonly status?: number; readonly body: string }
  | 'silence'
  | { readonly half: string }
  | { readonly begin: string; readonly rest: Promise<string> };

/** An HTTPS server in this process that wants the client's certificate. */
export interface FakeHttpsServer {
  /** `METHOD PATH` of each request that came, in order. */
  readonly requests: readonly string[];
  /** Settles when a request whose line contains the text has come. */
  readonly asked: (part: string) => Promise<void>;
  /** Where it listens, on 127.0.0.1. */
  readonly port: number;
  /** Leads every address to this server. */
  readonly forward: Forward;
  /** Addresses that were wanted. */
  readonly addresses: readonly string[];
  readonly stop: () => Promise<void>;
}

/** Starts it. `answer`: what it does with `METHOD PATH`; `accept` is the request's. */
export async function fakeHttpsServer(
  answer: (request: string, accept: string) => FakeAnswer,
): Promise<FakeHttpsServer> {
  const requests: string[] = [];
  const waiting = new Set<() => void>();
  const sockets = new Set<Socket>();
  const server: Http2SecureServer = createSecureServer({
    ...{ cert: pem.server, key: pem.serverKey, ca: pem.ca },
    ...{ requestCert: true, rejectUnauthorized: true, allowHTTP1: false },
  });
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    const line = `${headers[':method'] ?? ''} ${headers[':path'] ?? ''}`;
    const given = answer(line, headers.accept ?? '');
    requests.push(line);
    for (const notify of waiting) notify();
    if (given === 'silence') return;
    stream.respond({ ':status': 'body' in given ? (given.status ?? 200) : 200 });
    if ('body' in given) stream.end(given.body);
    else if ('half' in given) {
      // As a server that dies: one that takes its leave (GOAWAY) lets the client wait for the rest of the answer.
      stream.write(given.half, () => {
        for (const socket of sockets) socket.destroy();
      });
    } else {
      stream.write(given.begin);
      void given.rest.then((rest) => stream.end(rest));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const addresses: string[] = [];
  return {
    requests,
    addresses,
    port,
    asked: (part) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!requests.some((line) => line.includes(part))) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    forward: async (address, wanted) => {
      addresses.push(`${address}:${String(wanted)}`);
      const stream = connect(port, '127.0.0.1');
      stream.on('error', () => undefined);
      await once(stream, 'connect');
      return { kind: 'open', stream };
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await Promise.resolve();
    },
  };
}
