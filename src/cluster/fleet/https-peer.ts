import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { SecureContext, TLSSocket } from 'node:tls';
import { bracketed, isIP } from '../../inventory/addresses.ts';
import { revealed, type Secret } from '../../shell/secret.ts';
import type { Forwarded } from '../../ssh/link.ts';

/** Connects from a host to an address and port. */
export type Forward = (address: string, port: number) => Promise<Forwarded>;

/** The CA that a client trusts, and the certificate and key by which servers know the client. PEM. */
export interface ClientIdentity {
  readonly ca: string;
  readonly certificate: string;
  readonly key: Secret;
}

/** Why a command on the host must do what SSH's own channel cannot: its server forwards nothing, for example. */
export class Detour extends Error {}

/** What a server answered. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** One request. */
interface HttpRequest {
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  readonly accept?: string;
  /**
   * Until the answer begins, the connection included, and how long it may then be silent. Default 5 s. A list of a
   * large cluster takes longer on a slow line.
   */
  readonly withinMs?: number;
}

/** A server behind a host, spoken to by HTTP/2 over TLS. */
export interface HttpsPeer {
  /**
   * @throws Detour; Error with the reason if the server was not reached or verified, or if its answer is too late
   */
  readonly request: (path: string, request?: HttpRequest) => Promise<HttpAnswer>;
  /** The server's certificate, DER; undefined until a request was answered. */
  readonly certificate: () => Buffer | undefined;
  /** The connection, for what is no request and answer. Throws like `request`. */
  readonly connected: () => Promise<ClientHttp2Session>;
  readonly close: () => void;
}

const REQUEST_MS = 5000;

/** Characters of an answer: what the transport takes of a command at most. */
const MOST_BYTES = 64 * 1024 * 1024;

/** Bytes that a server may send before the client has read them: a window of 64 kB would cost a round trip for each. */
const WINDOW_BYTES = 16 * 1024 * 1024;

/** Node's name of the session's memory limit counts answers that wait to be read, in MB. */
const SESSION_MEGABYTES = 256;

/** HTTP/2's code for an answer that is wanted no more (RFC 9113, 7). */
const CANCEL = 0x8;

/** What TLS has made of an identity, as long as something has it: each of its connections would make it again. */
const contexts = new WeakMap<ClientIdentity, SecureContext>();

/**
 * TLS over a stream, the server's certificate and name verified. `kept` gets the socket before its handshake. Throws if
 * the server is not verified; Detour if it does not speak the protocol.
 */
export async function encrypted(
  stream: Duplex,
  host: string,
  client: ClientIdentity,
  kept: (socket: TLSSocket) => TLSSocket,
  protocol: 'h2' | 'http/1.1' = 'h2',
): Promise<TLSSocket> {
  const { ca, certificate, key } = client;
  const { connect: connectTls, createSecureContext } = await import('node:tls');
  const secureContext =
    contexts.get(client) ?? createSecureContext({ ca, cert: certificate, key: revealed(key), minVersion: 'TLSv1.2' });
  contexts.set(client, secureContext);
  const begun = connectTls({
    ...{ socket: stream, host, secureContext },
    // An address is no server name (RFC 6066, 3); it is compared with the certificate all the same.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...{ ALPNProtocols: [protocol], rejectUnauthorized: true },
  });
  const socket = kept(begun);
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('close', () => reject(new Error('the connection was closed during the handshake')));
    socket.on('error', reject);
  });
  if (socket.alpnProtocol === protocol) return socket;
  socket.destroy();
  throw new Detour(`its server speaks no ${protocol === 'h2' ? 'HTTP/2' : 'HTTP/1.1'}`);
}

const late = (ms: number): Error => new Error(`no answer within ${String(ms / 1000)} s`);

/** Settles when the answer begins. Rejects if there is none. */
const begun = (stream: ClientHttp2Stream): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.once('response', () => resolve());
    stream.once('error', reject);
    stream.once('close', () => reject(new Error('the connection was closed before the answer was whole')));
  });

/** The answer to a request, when it is whole: one that was cut off is none. `silentMs`: it is given up after. */
function answerOf(stream: ClientHttp2Stream, silentMs: number): Promise<HttpAnswer> {
  stream.setTimeout(silentMs, () => stream.destroy(late(silentMs)));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let status = 0;
    let isEnded = false;
    stream.once('response', (headers) => (status = headers[':status'] ?? 0));
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MOST_BYTES) chunks.push(chunk);
      else stream.destroy(new Error(`its answer has more than ${String(MOST_BYTES)} bytes`));
    });
    stream.once('end', () => (isEnded = true));
    stream.once('error', reject);
    stream.once('close', () => {
      if (isEnded && status !== 0 && stream.rstCode === 0) resolve({ status, body: Buffer.concat(chunks).toString() });
      else reject(new Error('the connection was closed before the answer was whole'));
    });
  });
}

/** Settles as the work does, or rejects when the time is over. */
function within<T>(ms: number, work: Promise<T>, onLate: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      onLate();
      reject(late(ms));
    }, ms);
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** A connection that is being made, and its server's certificate. */
interface Connecting {
  readonly session: () => Promise<ClientHttp2Session>;
  readonly certificate: () => Buffer | undefined;
  readonly close: () => void;
}

/** HTTP/2 to a place behind a host: the channel is opened at once, TLS begins with the first use. */
function connecting(forward: Forward, host: string, port: number, identity: Promise<ClientIdentity>): Connecting {
  const where = `${bracketed(host)}:${String(port)}`;
  let isClosed = false;
  let certificate: Buffer | undefined;
  const ended: { destroy(): unknown }[] = [];
  /** Ends it with the others; at once if they have ended. */
  const kept = <S extends { destroy(): unknown }>(stream: S): S => {
    ended.push(stream);
    if (isClosed) stream.destroy();
    return stream;
  };
  const refuseClosed = (): void => {
    if (isClosed) throw new Error(`${where}: the connection was closed`);
  };
  const opened = forward(host, port).then((forwarded) => {
    if (forwarded.kind === 'denied') throw new Detour(forwarded.reason);
    if (forwarded.kind === 'failed') throw new Error(`${where}: ${forwarded.reason}`);
    return kept(forwarded.stream);
  });
  // Each request tells it.
  opened.catch(() => undefined);
  // Loaded while the channel is opened: no command needs it before, and most hosts none.
  const http2 = import('node:http2');
  const connect = async (): Promise<ClientHttp2Session> => {
    const client = await identity;
    const stream = await opened;
    refuseClosed();
    const socket = await encrypted(stream, host, client, kept).catch((error: unknown) => {
      throw error instanceof Detour ? error : new Error(`${where}: ${(error as Error).message}`);
    });
    refuseClosed();
    certificate = socket.getPeerX509Certificate()?.raw;
    const session = (await http2).connect(`https://${where}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
      maxSessionMemory: SESSION_MEGABYTES,
    });
    session.on('error', () => undefined);
    session.once('connect', () => {
      // Node emits it a tick later: a connection that was lost meanwhile has no window, and would end kbuild.
      if (!session.destroyed) session.setLocalWindowSize(2 * WINDOW_BYTES);
    });
    return kept(session);
  };
  let made: Promise<ClientHttp2Session> | undefined;
  return {
    session: () => (made ??= connect()),
    certificate: () => certificate,
    close: () => {
      isClosed = true;
      for (const stream of ended.toReversed()) stream.destroy();
    },
  };
}

/**
 * A server at an address behind a host. The channel is opened at once, and TLS begins when it is known who the client
 * is. The connection lasts until it is closed; it is never made again, so that each observation sees what is there now.
 */
export function httpsPeer(
  forward: Forward,
  { host, port }: { readonly host: string; readonly port: number },
  identity: Promise<ClientIdentity>,
): HttpsPeer {
  const { session, certificate, close } = connecting(forward, host, port, identity);
  return {
    connected: session,
    certificate,
    close,
    async request(path, { method = 'GET', body, accept = 'application/json', withinMs = REQUEST_MS } = {}) {
      await identity;
      let stream: ClientHttp2Stream | undefined;
      const asking = async (): Promise<{ readonly whole: Promise<HttpAnswer> }> => {
        const over = await session();
        if (over.destroyed || over.closed) throw new Error('the connection was closed');
        const json = body === undefined ? {} : { 'content-type': 'application/json' };
        stream = over.request({ ':method': method, ':path': path, accept, ...json }, { endStream: body === undefined });
        const whole = answerOf(stream, withinMs);
        whole.catch(() => undefined);
        if (body !== undefined) stream.end(body);
        await begun(stream);
        return { whole };
      };
      const answer = asking();
      answer.catch(() => undefined);
      return (await within(withinMs, answer, () => stream?.close(CANCEL))).whole;
    },
  };
}
