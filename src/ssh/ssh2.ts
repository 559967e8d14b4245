import type { Duplex } from 'node:stream';
import ssh2 from 'ssh2';
import type { Client, ServerHostKeyAlgorithm } from 'ssh2';
import { ConnectError } from '../errors.ts';
import type { Host } from '../inventory/inventory.ts';
import { type Pause, pause as realPause, until } from '../wait.ts';
import { bastions, type Bastions, type Path, type Tunnels } from './bastions.ts';
import { connectError, type Failure, noCommonAlgorithm, withRetries } from './connect-error.ts';
import { hostKeyGuard, type HostKeyPolicy } from './host-key-guard.ts';
import { knownHostsReader, type KnownHostsReader } from './known-hosts.ts';
import { type Endpoint, whereOf } from './link.ts';
import { overLinks } from './reconnect.ts';
import { KeyProblem, keyring, type Keyring, type KeyringOptions } from './ssh2-keys.ts';
import { linkOf } from './ssh2-link.ts';
import type { Transport } from './transport.ts';

/** What a server offers for its first key exchange, by kind. */
type Offers = ReadonlyMap<string, string>;

/** Attempts to learn the offers: a busy server closes some connections before it sends anything (MaxStartups). */
const ATTEMPTS = 4;

/** Repeats `ask` until the server sends its offers. Empty if it never does. */
async function offersOnceSaid(
  ask: () => Promise<Offers>,
  pause: Pause,
  random: () => number = Math.random,
): Promise<Offers> {
  let times = 0;
  const asked = async () => {
    const found = await ask();
    return found.size > 0 || ++times === ATTEMPTS ? found : undefined;
  };
  const longer: Pause = () => pause(200 * 2 ** times * (0.5 + random()));
  return (await until(asked, Infinity, { pause: longer, nowMs: Date.now, everyMs: 0 }))!;
}

/** What tunnels need of an SSH client that has logged in to a bastion. */
interface Forwarder {
  forwardOut(
    fromAddress: string,
    fromPort: number,
    address: string,
    port: number,
    done: (error: Error | undefined, stream: Duplex) => void,
  ): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  end(): unknown;
  destroy(): unknown;
}

/** A connection to a bastion, for others to go through. */
function tunnelsOf(client: Forwarder): Tunnels {
  let isLost = false;
  client.once('close', () => (isLost = true));
  client.on('error', () => {
    client.destroy();
  });
  return {
    isLost: () => isLost,
    end: () => void client.end(),
    forward: (address: string, port: number) =>
      new Promise<Duplex>((resolve, reject) => {
        try {
          client.forwardOut('127.0.0.1', 0, address, port, (error, stream) => {
            if (error === undefined) resolve(stream);
            else reject(error);
          });
        } catch {
          isLost = true;
          client.destroy();
          reject(new Error('the connection to it was lost'));
        }
      }),
  };
}

// CommonJS: Node finds no named exports in it.

/** How to dial. */
export interface SshOptions extends KeyringOptions {
  readonly policy: HostKeyPolicy;
  /** From the first packet to the login, in ms; default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Gives up dialling. */
  readonly signal?: AbortSignal;
  readonly pause?: Pause;
  /** 0 ≤ x < 1, for the jitter of retries. */
  readonly random?: () => number;
}

/** Dials the hosts of a run: they share bastions and keys. */
export interface SshDialler {
  /**
   * Connects to a host over SSH: its key and those of its bastions verified before anything is sent, public key or
   * agent login, never an agent forwarded. The connection is made again when it was lost and something is to be run.
   * @throws ConnectError
   */
  dial(host: Host): Promise<Transport>;
  /** Ends the connections to bastions. */
  close(): void;
}

/** No group exchange: ssh2 computes it for 1.6 s with the event loop blocked. */
const KEX = [
  'curve25519-sha256',
  'curve25519-sha256@libssh.org',
  'ecdh-sha2-nistp256',
  'ecdh-sha2-nistp384',
  'ecdh-sha2-nistp521',
  'diffie-hellman-group14-sha256',
  'diffie-hellman-group16-sha512',
  'diffie-hellman-group18-sha512',
] as const;
const HMAC = [
  'hmac-sha2-256-etm@openssh.com',
  'hmac-sha2-512-etm@openssh.com',
  'hmac-sha2-256',
  'hmac-sha2-512',
] as const;
const KEEPALIVE = { keepaliveInterval: 15_000, keepaliveCountMax: 3 };
const CONNECT_MS = 10_000;

/** @see SshDialler */
export function sshDialler(options: SshOptions): SshDialler {
  const pause = options.pause ?? realPause;
  const shared: Shared = { ...options, keys: keyring(options), knownHosts: knownHostsReader() };
  const through: Bastions = bastions(async (endpoint, path) => {
    const attempt = () => connect(endpoint, path, shared);
    // A stream through another bastion can be used once.
    const { client } = path === undefined ? await withRetries(attempt, { ...options, pause }) : await attempt();
    return tunnelsOf(client);
  });
  const connectHost = async (host: Host): Promise<LoggedIn> => {
    const hops = host.ssh.bastions ?? [];
    if (hops.length === 0) return connect(host, undefined, shared);
    const path = await through.path(host.name, hops, host.address, host.ssh.port);
    try {
      return await connect(host, path, shared);
    } finally {
      path.settled();
    }
  };
  return {
    dial: (host) => {
      const dial = () =>
        withRetries(
          async () => {
            const { client, loginMs } = await connectHost(host);
            return linkOf(client, closed(client), { software: softwareOf(client), loginMs });
          },
          { ...options, pause },
        );
      return overLinks(host.name, whereOf(host), dial, pause);
    },
    close: () => through.close(),
  };
}

/** The software version of the server's identification string (RFC 4253, 4.2); ssh2 keeps it to itself. */
const softwareOf = (client: Client): string => (client as unknown as { _remoteVer?: string })._remoteVer ?? '';

const closed = (client: Client): Promise<void> => new Promise((ended) => client.once('close', ended));

/** What all connections of a run have in common. */
interface Shared extends SshOptions {
  readonly keys: Keyring;
  readonly knownHosts: KnownHostsReader;
}

/** A connection that can be used. */
interface LoggedIn {
  readonly client: Client;
  /** From the moment the server took the connection. */
  readonly loginMs: number;
}

async function connect(endpoint: Endpoint, path: Path | undefined, options: Shared): Promise<LoggedIn> {
  const { name, address, ssh } = endpoint;
  const { methods, leftOut } = await options.keys.keys(ssh).catch((error: unknown) => {
    if (!(error instanceof KeyProblem)) throw error;
    throw new ConnectError(name, error.message, { retryable: false, remedy: error.remedy, cause: error });
  });
  const guard = hostKeyGuard(endpoint, options.policy, options.knownHosts);
  const client = new ssh2.Client();
  const start = () =>
    client.connect({
      ...(path === undefined ? { host: address, port: ssh.port } : { sock: path.stream }),
      username: ssh.user,
      authHandler: [...methods],
      algorithms: algorithms(guard.algorithms),
      hostVerifier: (key: Buffer) => guard.accepts(key),
      readyTimeout: options.connectTimeoutMs ?? CONNECT_MS,
      ...KEEPALIVE,
    });
  try {
    return await loggedIn(client, start, options.signal);
  } catch (error) {
    path?.stream.destroy();
    const refused = guard.refusal();
    if (refused !== undefined) throw refused;
    const failure = error as Failure;
    if (!/no matching/i.test(failure.message))
      throw connectError(endpoint, Object.assign(failure, { greeted: softwareOf(client) !== '', leftOut }));
    const ask = () => offersOf(endpoint, guard.algorithms, path);
    const offers = await offersOnceSaid(ask, options.pause ?? realPause, options.random);
    throw noCommonAlgorithm(endpoint, failure, offers, KEX);
  }
}

/** Starts a client and waits for the login. `answered` of a failure: the server took the connection. */
function loggedIn(client: Client, start: () => void, signal: AbortSignal | undefined): Promise<LoggedIn> {
  return new Promise((resolve, reject) => {
    let answered = false;
    let answeredMs = performance.now();
    let shaken = false;
    // Destroying the client emits `close`, which is a failure too: only the first failure counts.
    const fail = (error: Error) => {
      signal?.removeEventListener('abort', abort);
      reject(Object.assign(error, { answered }));
      client.destroy();
    };
    const abort = () => fail(new Error('given up'));
    if (signal?.aborted === true) {
      abort();
      return;
    }
    signal?.addEventListener('abort', abort, { once: true });
    client.on('connect', () => {
      answered = true;
      answeredMs = performance.now();
      // ssh2 leaves Nagle's algorithm on: 40 ms and more for every small packet.
      client.setNoDelay(true);
    });
    client.on('error', fail);
    client.once('handshake', () => (shaken = true));
    client.once('close', () =>
      fail(new Error(`the connection was closed ${shaken ? 'during the login' : 'before the login'}`)),
    );
    client.once('ready', () => {
      signal?.removeEventListener('abort', abort);
      resolve({ client, loginMs: performance.now() - answeredMs });
    });
    start();
  });
}

const algorithms = (hostKeys: readonly string[]) => ({
  kex: [...KEX],
  hmac: [...HMAC],
  serverHostKey: hostKeys as ServerHostKeyAlgorithm[],
});

/** A server's offers for its first key exchange, by kind: read on one more connection, which sends nothing secret. */
async function offersOf(
  { address, ssh: { port } }: Endpoint,
  hostKeys: readonly string[],
  path: Path | undefined,
): Promise<Offers> {
  const found = new Map<string, string>();
  // Its place on the bastion first: all places may be taken by those who wait for a second one.
  path?.settled();
  const other = await path?.again().catch(() => undefined);
  if (path !== undefined && other === undefined) return found;
  return new Promise((resolve) => {
    const client = new ssh2.Client();
    const done = () => {
      client.destroy();
      other?.stream.destroy();
      other?.settled();
      resolve(found);
    };
    client.on('error', done);
    client.once('close', done);
    client.connect({
      ...(other === undefined ? { host: address, port } : { sock: other.stream }),
      username: 'none',
      authHandler: [],
      algorithms: algorithms(hostKeys),
      hostVerifier: () => false,
      readyTimeout: CONNECT_MS,
      debug: (text: string) => {
        const [, kind, list] = /^Handshake: \(remote\) ([^:]+): (.*)$/.exec(text) ?? [];
        if (kind !== undefined) found.set(kind, list ?? '');
      },
    });
  });
}
