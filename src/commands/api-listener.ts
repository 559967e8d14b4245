import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Agent, type IncomingMessage, request as requestOf, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { loopbackCertificate } from '../certificates/certificate.value.ts';
import { type ClientIdentity, encrypted, type Forward } from '../cluster/fleet/https-peer.ts';
import { hostPort } from '../inventory/addresses.ts';
import { Secret } from '../shell/secret.ts';

/** An API server behind a host. */
export interface ApiServerBehind {
  readonly forward: Forward;
  readonly server: { readonly host: string; readonly port: number };
}

/** The API servers of a cluster, the preferred one first, and who asks them. */
interface Behind {
  readonly servers: readonly [ApiServerBehind, ...ApiServerBehind[]];
  readonly identity: ClientIdentity;
}

/** The API on an address of this machine. */
export interface ApiListener {
  readonly server: string;
  /** The certificate of the listener itself, PEM. */
  readonly ca: string;
  /** Without this bearer token the listener refuses a request. */
  readonly token: Secret;
  readonly close: () => void;
}

/** An unused connection to the API server ends after this time, in ms. */
const IDLE_MS = 30_000;

/** A connection to an API server. Rejects with the reason if there is none. */
async function connectedTo({ forward, server }: ApiServerBehind, identity: ClientIdentity): Promise<Duplex> {
  const forwarded = await forward(server.host, server.port);
  if (forwarded.kind !== 'open') throw new Error(forwarded.reason);
  return encrypted(forwarded.stream, server.host, identity, (socket) => socket, 'http/1.1').catch((error: unknown) => {
    forwarded.stream.destroy();
    throw error;
  });
}

/**
 * Connections to the API servers: TLS with the administrator's certificate, over channels of SSH. The server that
 * answered last is tried first; the others follow where it cannot be reached any more.
 */
class TunnelAgent extends Agent {
  readonly #identity: ClientIdentity;
  #servers: readonly ApiServerBehind[];

  constructor({ servers, identity }: Behind) {
    super({ keepAlive: true, timeout: IDLE_MS });
    this.#servers = servers;
    this.#identity = identity;
  }

  async #connected(): Promise<Duplex> {
    const reasons: string[] = [];
    for (const one of this.#servers) {
      try {
        const stream = await connectedTo(one, this.#identity);
        this.#servers = [one, ...this.#servers.filter((other) => other !== one)];
        return stream;
      } catch (error) {
        reasons.push((error as Error).message);
      }
    }
    throw new Error(reasons.join('; '));
  }

  override createConnection(_options: unknown, done?: (error: Error | null, stream: Duplex) => void): undefined {
    this.#connected().then(
      (stream) => done?.(null, stream),
      // Node's type asks for a stream beside an error too.
      (error: unknown) => done?.(error as Error, undefined as never),
    );
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** True for a request with the token of this listener. */
const hasToken = ({ headers }: IncomingMessage, token: string): boolean =>
  timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`));

/** An answer as kubectl shows it. */
const statusBody = (code: number, message: string): string =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code, message, metadata: {} });

const JSON_TYPE = { 'content-type': 'application/json' } as const;

const NO_TOKEN = 'the listener of kbuild wants the token of its kubeconfig';

/** Status line and headers as they came, for a connection that is no longer read as HTTP. */
function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const fields = rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${rawHeaders[i + 1] ?? ''}`] : []));
  return [`HTTP/1.1 ${String(statusCode)} ${statusMessage ?? ''}`, ...fields, '', ''].join('\r\n');
}

/** Both directions until one side ends. */
function joined(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.once('close', () => to.destroy());
  }
}

/** Passes a request on, without the token: to the API server kbuild is the administrator by its certificate. */
function passedOn({ servers: [{ server }] }: Behind, agent: Agent, request: IncomingMessage) {
  const host = hostPort(server.host, server.port);
  const others = Object.entries(request.headers).filter(([name]) => name !== 'authorization');
  const headers = { ...Object.fromEntries(others), host };
  return requestOf({ agent, method: request.method, path: request.url, headers });
}

/** A request and its answer, both as streams: a watch goes on for hours. */
function answer(behind: Behind, agent: Agent, request: IncomingMessage, response: ServerResponse): void {
  const upstream = passedOn(behind, agent, request);
  upstream.on('response', (from) => {
    response.writeHead(from.statusCode ?? 502, from.rawHeaders);
    response.flushHeaders();
    pipeline(from, response, () => undefined);
  });
  upstream.on('error', (error) => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502, JSON_TYPE).end(statusBody(502, `the API server through SSH: ${error.message}`));
  });
  response.on('close', () => upstream.destroy());
  pipeline(request, upstream, () => undefined);
}

/** `exec`, `attach` and `port-forward`: the connection becomes SPDY or a WebSocket, and its bytes pass. */
function upgrade(behind: Behind, agent: Agent, request: IncomingMessage, socket: Duplex, first: Buffer) {
  const upstream = passedOn(behind, agent, request);
  upstream.on('upgrade', (from, to, early) => {
    socket.write(headOf(from));
    socket.write(early);
    to.write(first);
    joined(socket, to);
  });
  upstream.on('response', (from) => {
    // Refused. The body ends with the connection, whatever its headers say of chunks.
    const rawHeaders = from.rawHeaders.flatMap((name, i, all) =>
      i % 2 === 0 && !/^(transfer-encoding|connection)$/i.test(name) ? [name, all[i + 1] ?? ''] : [],
    );
    socket.write(
      headOf(Object.assign(Object.create(from) as IncomingMessage, { rawHeaders })).replace(
        /\r\n$/,
        'Connection: close\r\n\r\n',
      ),
    );
    pipeline(from, socket, () => socket.destroy());
  });
  upstream.on('error', () => socket.destroy());
  socket.on('error', () => upstream.destroy());
  socket.on('close', () => upstream.destroy());
  upstream.end();
}

/**
 * Serves the API on a free port of the loopback address, to those who know its token: other users of this machine can
 * connect to the port and get 401. The administrator's certificate is in memory until it is closed.
 */
export async function listenForApi(behind: Behind, nowMs: number): Promise<ApiListener> {
  const token = randomBytes(32).toString('base64url');
  const { certificate, key } = loopbackCertificate(nowMs);
  const agent = new TunnelAgent(behind);
  const server = createServer({ key, cert: certificate, keepAliveTimeout: 0, requestTimeout: 0 });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (hasToken(request, token)) answer(behind, agent, request, response);
    else response.writeHead(401, JSON_TYPE).end(statusBody(401, NO_TOKEN));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, first: Buffer) => {
    if (hasToken(request, token)) upgrade(behind, agent, request, socket, first);
    else socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  // Tunnels of upgraded connections are no connections of the server any more.
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    server: `https://127.0.0.1:${String(port)}`,
    ca: certificate,
    token: Secret.of(token),
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      agent.destroy();
    },
  };
}
