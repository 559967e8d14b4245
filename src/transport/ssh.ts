// CommonJS: Node finds no named exports in it.
import ssh2, { type AgentAuthMethod, type Client, type PublicKeyAuthMethod, type ServerHostKeyAlgorithm } from 'ssh2';
import { readFileSync } from 'node:fs';
import { ConnectError } from '../errors.ts';
import type { Host } from '../inventory/inventory.ts';
import { connectError } from './connect-error.ts';
import { hostKeyGuard, type HostKeyPolicy } from './host-key-guard.ts';
import type { CommandStream, Link, Started } from './link.ts';
import { overLinks } from './over-link.ts';
import { pause as realPause, type Pause } from './pause.ts';
import type { Transport } from './transport.ts';

/** How to dial. */
export interface SshOptions {
  readonly policy: HostKeyPolicy;
  /** $SSH_AUTH_SOCK; used for hosts without an identity file. */
  readonly agentSocket?: string | undefined;
  /** From the first packet to the login, in ms; default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Gives up dialling. */
  readonly signal?: AbortSignal;
  readonly pause?: Pause;
  /** 0 ≤ x < 1, for the jitter of retries. */
  readonly random?: () => number;
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
const RETRIES = 3;

/**
 * Connects to a host over SSH: its key verified against known_hosts before anything is sent, public key or agent login.
 * The connection is made again when it was lost and something is to be run.
 * @throws ConnectError
 */
export function dialSsh(host: Host, options: SshOptions): Promise<Transport> {
  const pause = options.pause ?? realPause;
  const dial = () => withRetries(() => connect(host, options), { ...options, pause });
  return overLinks(host.name, `${host.address}:${String(host.ssh.port)}`, dial, pause);
}

async function withRetries(attempt: () => Promise<Link>, options: SshOptions & { readonly pause: Pause }) {
  const random = options.random ?? Math.random;
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      // A host that does not answer at all has been given the whole time out once: once more is enough.
      const retries = error instanceof ConnectError && error.retryable ? (timedOut(error) ? 1 : RETRIES) : 0;
      if (tries >= retries || options.signal?.aborted === true) throw error;
      await options.pause(250 * 2 ** tries * (0.5 + random()), options.signal);
    }
  }
}

const timedOut = ({ cause }: ConnectError) => (cause as { level?: string } | undefined)?.level === 'client-timeout';

function connect(host: Host, options: SshOptions): Promise<Link> {
  const authentication = loginOf(host, options.agentSocket);
  const guard = hostKeyGuard(host, options.policy);
  const client = new ssh2.Client();
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      options.signal?.removeEventListener('abort', abort);
      client.destroy();
      reject(guard.refusal() ?? connectError(host, error));
    };
    const abort = () => fail(new Error('given up'));
    if (options.signal?.aborted === true) {
      abort();
      return;
    }
    options.signal?.addEventListener('abort', abort, { once: true });
    const lost = new Promise<void>((ended) => client.once('close', ended));
    // ssh2 leaves Nagle's algorithm on: 40 ms and more for every small packet.
    client.on('connect', () => client.setNoDelay(true));
    client.on('error', fail);
    client.once('close', () => fail(new Error('the connection was closed')));
    client.once('ready', () => {
      options.signal?.removeEventListener('abort', abort);
      resolve(linkOf(client, lost));
    });
    client.connect({
      host: host.address,
      port: host.ssh.port,
      username: host.ssh.user,
      authHandler: [authentication],
      algorithms: {
        kex: [...KEX],
        hmac: [...HMAC],
        serverHostKey: guard.algorithms as ServerHostKeyAlgorithm[],
      },
      hostVerifier: (key: Buffer) => guard.accepts(key),
      readyTimeout: options.connectTimeoutMs ?? 10_000,
      ...KEEPALIVE,
    });
  });
}

type Login = PublicKeyAuthMethod | AgentAuthMethod;

/** Exactly one way to log in: more would count against the server's MaxAuthTries. */
function loginOf(host: Host, agentSocket: string | undefined): Login {
  const { user: username, identityFile } = host.ssh;
  const impossible = (message: string, remedy: string, cause?: unknown) =>
    new ConnectError(host.name, message, { retryable: false, remedy, cause });
  if (identityFile === undefined) {
    if (agentSocket === undefined || agentSocket === '')
      throw impossible('no SSH key to log in with', 'set ssh.identityFile, or start an agent ($SSH_AUTH_SOCK)');
    return { type: 'agent', username, agent: agentSocket };
  }
  let text: Buffer;
  try {
    text = readFileSync(identityFile);
  } catch (error) {
    throw impossible(
      `cannot read the SSH key ${identityFile}: ${(error as Error).message}`,
      'check ssh.identityFile',
      error,
    );
  }
  const key = ssh2.utils.parseKey(text);
  if (!(key instanceof Error)) return { type: 'publickey', username, key: text };
  throw /passphrase/i.test(key.message)
    ? impossible(
        `the SSH key ${identityFile} is encrypted`,
        `add it to an agent (ssh-add ${identityFile}) and leave ssh.identityFile out`,
        key,
      )
    : impossible(`${identityFile} is no SSH private key: ${key.message}`, 'check ssh.identityFile', key);
}

function linkOf(client: Client, lost: Promise<void>): Link {
  let isLost = false;
  client.once('close', () => (isLost = true));
  // A half-open connection is found by the keepalive, as an error without a close.
  client.on('error', () => {
    client.destroy();
  });
  return {
    lost,
    isLost: () => isLost,
    start: (commandLine) =>
      new Promise<Started>((resolve) => {
        try {
          client.exec(commandLine, (error, stream) => resolve(started(error, stream)));
        } catch {
          // ssh2 throws when its socket is not writable any more.
          client.destroy();
          isLost = true;
          resolve({ kind: 'unsent' });
        }
      }),
    end: () => void client.end(),
    destroy: () => void client.destroy(),
  };

  function started(error: Error | undefined, stream: CommandStream): Started {
    if (error === undefined) return { kind: 'started', stream, status: statusOf(stream) };
    const sent = error.message === 'Unable to exec';
    if (isLost) return { kind: sent ? 'lost' : 'unsent' };
    if (sent) return { kind: 'denied', reason: error.message };
    return { kind: 'refused', reason: error.message };
  }
}

/** Listens from the first moment: the status may come in the same packet as the answer that the command was started. */
function statusOf(stream: CommandStream): () => number | string {
  let status: number | string = 'lost';
  stream.on('exit', (code: number | null | undefined, signal?: string) => {
    status = code ?? signal ?? 'lost';
  });
  // Writing to a command that has ended is no error of ours: its status tells.
  stream.on('error', () => undefined);
  return () => status;
}
