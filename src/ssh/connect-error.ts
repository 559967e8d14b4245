import { existsSync } from 'node:fs';
import { ConnectError } from '../errors.ts';
import { systemText } from '../shell/text.ts';
import type { Pause } from '../wait.ts';
import { type Endpoint, whereOf } from './link.ts';

/** Errors of ssh2 carry the layer that failed, errors of sockets a code. */
export interface Failure extends Error {
  readonly level?: string;
  readonly code?: string;
  /** True if the server took the connection. */
  readonly answered?: boolean;
  /** True if the server sent its identification string (RFC 4253, 4.2). */
  readonly greeted?: boolean;
  /** Why identity files were not offered. */
  readonly leftOut?: readonly string[];
}

/** True if the connection ended before the login. */
const endedEarly = ({ code, message }: Failure): boolean =>
  code === 'ECONNRESET' || /closed before the login|lost before handshake/i.test(message);

/** Codes of a kernel that knows no way to the host: its route is missing, or no machine has the address. */
const NO_ROUTE: ReadonlySet<string> = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN']);

/** True if the kernel found no way to the host, which takes it 3 to 4 s where no machine has the address. */
const hasNoRoute = ({ code = '' }: Failure): boolean => NO_ROUTE.has(code);

/** True if the server took the connection and ended it before its identification: what MaxStartups does. */
const isTurnedAway = (failure: Failure): boolean =>
  failure.answered === true && failure.greeted === false && endedEarly(failure);

/** The error for a failed connection: which host, where, why, what to do, and whether a retry can help. */
export function connectError(endpoint: Endpoint, failure: Failure): ConnectError {
  const { user, port } = endpoint.ssh;
  const error = (message: string, retryable: boolean, remedy?: string) =>
    errorAt(endpoint, failure, message, retryable, remedy);
  const { level, code, message } = failure;

  if (level === 'client-authentication') return loginRefused(endpoint, failure);
  if (level === 'agent') return error(`the SSH agent failed: ${message}`, false, 'check $SSH_AUTH_SOCK (ssh-add -l)');
  if (level === 'client-timeout')
    return error('no answer in time', true, `is the host up, and port ${String(port)} open?`);
  if (code === 'EAI_AGAIN')
    return error(
      'no name server answers, so the name cannot be resolved now',
      true,
      'check the network and the name servers of this machine (/etc/resolv.conf), or write an IP address',
    );
  if (code === 'ENOTFOUND') return error('the name does not resolve', false, 'check the address in the inventory');
  if (/too many authentication failures/i.test(message))
    return error(
      `${user} was cut off after too many keys`,
      false,
      'name the right one in ssh.identityFile: only that one is offered then',
    );
  if (hasNoRoute(failure))
    return error(`no route to it (${code ?? ''})`, true, 'is the host up, and is its address right?');
  if (code === 'ECONNREFUSED') return error('connection refused', true, 'is sshd running, and is this its port?');
  if (/closed during the login/.test(message))
    return error(message, true, 'a host that starts or stops lets only root log in (/run/nologin); else see its log');
  if (endedEarly(failure))
    return error(
      `the connection was ${code === 'ECONNRESET' ? 'reset' : 'closed'} before the login`,
      true,
      'sshd turns away more logins at once than MaxStartups, and addresses that failed before ' +
        '(PerSourcePenalties): see its log',
    );
  return error(
    code === undefined ? message : systemText(failure),
    true,
    'is the host up, and are address and port right?',
  );
}

const errorAt = (
  endpoint: Endpoint,
  cause: Error,
  message: string,
  retryable: boolean,
  remedy?: string,
): ConnectError =>
  new ConnectError(endpoint.name, `${whereOf(endpoint)}: ${message}`, {
    retryable,
    ...(remedy === undefined ? {} : { remedy }),
    cause,
  });

function loginRefused(endpoint: Endpoint, failure: Failure): ConnectError {
  const { user, identityFiles } = endpoint.ssh;
  const refused = `${user} may not log in with`;
  const authorized = `~${user}/.ssh/authorized_keys`;
  if (identityFiles === undefined)
    return errorAt(
      endpoint,
      failure,
      `${refused} the agent's keys`,
      false,
      `is one of the agent's keys (ssh-add -l) in ${authorized}?`,
    );
  const certificate = identityFiles.map((file) => `${file}-cert.pub`).find((file) => existsSync(file));
  const leftOut = (failure.leftOut ?? []).map((why) => `; ${why}`).join('');
  return errorAt(
    endpoint,
    failure,
    `${refused} ${identityFiles.join(', ')}${leftOut}`,
    false,
    certificate === undefined
      ? `is ${identityFiles.map((file) => `${file.replace(/\.pub$/, '')}.pub`).join(' or ')} in ${authorized}?`
      : `the built-in client cannot use the certificate ${certificate}: set ssh.client: openssh, or put the key ` +
          `itself into ${authorized}`,
  );
}

const OF_KIND: Readonly<Record<string, string>> = {
  'KEX method': 'key exchange',
  'Host key format': 'host key',
  'C->S cipher': 'cipher',
  'C->S MAC': 'MAC',
};

/** No algorithm in common: names what the server offers (`offers`, by ssh2's kinds) and what kbuild has. */
export function noCommonAlgorithm(
  endpoint: Endpoint,
  failure: Error,
  offers: ReadonlyMap<string, string>,
  own: readonly string[],
): ConnectError {
  const offered = (offers.get('KEX method') ?? '').split(',').filter((name) => name !== '' && !name.startsWith('kex-'));
  const real = offered.filter((name) => name !== 'ext-info-s');
  const error = (message: string, remedy: string) => errorAt(endpoint, failure, message, false, remedy);
  const ours = `; kbuild has ${own.join(', ')}`;
  const add = 'let sshd allow curve25519-sha256 too (KexAlgorithms), or set ssh.client: openssh';
  if (/key exchange/.test(failure.message) && real.length > 0) {
    if (real.every((name) => /group-exchange/.test(name)))
      return error(
        `the server offers only Diffie-Hellman group exchange (${real.join(', ')}), which kbuild refuses: it ` +
          `would stop everything else for seconds${ours}`,
        add,
      );
    if (real.every((name) => /sntrup|mlkem|kyber/.test(name)))
      return error(`the server offers only post-quantum key exchange (${real.join(', ')})${ours}`, add);
    return error(`no common key exchange: the server offers ${real.join(', ')}${ours}`, add);
  }
  const lists = [...offers].flatMap(([kind, list]) =>
    OF_KIND[kind] === undefined ? [] : [`${OF_KIND[kind]}: ${list}`],
  );
  return error(
    lists.length === 0 ? failure.message : `${failure.message}; the server offers ${lists.join('; ')}`,
    'sshd must allow curve25519-sha256 (or another of kbuild’s algorithms), or set ssh.client: openssh',
  );
}

/** How to dial again. */
interface RetryOptions {
  /** Gives up dialling. */
  readonly signal?: AbortSignal;
  readonly pause: Pause;
  /** 0 ≤ x < 1, for the jitter. */
  readonly random?: () => number;
  /** Default 3. */
  readonly retries?: number;
}

const RETRIES = 3;
/**
 * A busy sshd (MaxStartups) turns connections away and accepts them later: half a minute in all, for a fleet behind one
 * bastion.
 */
const RETRIES_TURNED_AWAY = 16;
const LONGEST_PAUSE_MS = 2000;

/** Retries while the error is retryable: with jitter, so that a fleet does not come back at once. */
export async function withRetries<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const random = options.random ?? Math.random;
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      const retries = error instanceof ConnectError && error.retryable ? retriesAfter(error, options) : 0;
      if (tries >= retries || options.signal?.aborted === true) throw error;
      await options.pause(Math.min(250 * 2 ** tries, LONGEST_PAUSE_MS) * (0.5 + random()), options.signal);
    }
  }
}

/**
 * Within the time limit the kernel has tried a silent host several times, and so it has before it says that there is no
 * route: a retry would only delay the error. A host that took the connection and was slow then has a second chance.
 */
function retriesAfter({ cause }: ConnectError, { retries = RETRIES }: RetryOptions): number {
  if (!(cause instanceof Error)) return retries;
  const failure: Failure = cause;
  if (isTurnedAway(failure)) return Math.max(retries, RETRIES_TURNED_AWAY);
  if (hasNoRoute(failure)) return 0;
  if (failure.level !== 'client-timeout') return retries;
  return failure.answered === true ? 1 : 0;
}
