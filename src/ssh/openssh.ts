import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ConnectError } from '../errors.ts';
import type { Host } from '../inventory/inventory.ts';
import { limiter } from '../limit.ts';
import { type Pause, pause as realPause } from '../wait.ts';
import { type Failure, withRetries } from './connect-error.ts';
import type { HostKeyPolicy } from './host-key-guard.ts';
import { whereOf } from './link.ts';
import { configFile, PINS } from './openssh-config.ts';
import { connectMaster } from './openssh-master.ts';
import { overLinks } from './reconnect.ts';
import type { SshDialler } from './ssh2.ts';

interface Kind {
  readonly said: RegExp;
  readonly message: string;
  readonly retryable: boolean;
  readonly remedy?: string;
  /** What the failure of the built-in client has in the same case: it decides how often kbuild tries again. */
  readonly failure?: Pick<Failure, 'level' | 'code'>;
}

const PINNED_REMEDY =
  'find out why: another machine may answer in its place. If the host was reinstalled, change ssh.hostKey';

/** Messages of OpenSSH, the more exact first. */
const KINDS: readonly Kind[] = [
  {
    said: /REVOKED HOST KEY|host key .* is revoked|marked as revoked/i,
    message: 'the host key is revoked',
    retryable: false,
    remedy: 'give the host a new key',
  },
  {
    said: /REMOTE HOST IDENTIFICATION HAS CHANGED/,
    message: 'the host key has CHANGED',
    retryable: false,
    remedy:
      'find out why: another machine may answer in its place. If the host was reinstalled, remove its line from ' +
      'known_hosts',
  },
  {
    said: /host key is known for|Host key verification failed|Host certificate/i,
    message: 'the host key is not known',
    retryable: false,
    remedy:
      'put the key, or "@cert-authority" and the key of its authority, into known_hosts (or run with ' +
      '--accept-new-host-keys)',
  },
  {
    said: /too many authentication failures/i,
    message: 'the login was cut off after too many keys',
    retryable: false,
    remedy: 'name the right one in ssh.identityFile: only that one is offered then',
  },
  {
    said: /permission denied/i,
    message: 'the login was refused',
    retryable: false,
    remedy: 'does "ssh -o BatchMode=yes" to it work? Keys with a passphrase must be in the agent (ssh-add)',
  },
  { said: /unable to negotiate|no matching/i, message: 'no algorithm in common', retryable: false },
  {
    said: /could not resolve/i,
    message: 'the name does not resolve',
    retryable: false,
    remedy: 'check the address in the inventory',
  },
  {
    said: /bad configuration option|configuration options|bad owner/i,
    message: 'ssh does not accept its configuration',
    retryable: false,
  },
  {
    said: /timed out/i,
    message: 'no answer in time',
    retryable: true,
    remedy: 'is the host up, and its port open?',
    failure: { level: 'client-timeout' },
  },
  {
    said: /no route to host|network is unreachable|host is down/i,
    message: 'no route to it',
    retryable: true,
    remedy: 'is the host up, and is its address right?',
    failure: { code: 'EHOSTUNREACH' },
  },
  {
    said: /connection refused/i,
    message: 'connection refused',
    retryable: true,
    remedy: 'is sshd running, and is this its port?',
  },
];

/** Where ssh found another key of a host; a file of kbuild's holds what the inventory pins. */
const OFFENDING = /Offending (\S+) key in (\S+:\d+)/;
const isPinned = (stderr: string): boolean => basename(OFFENDING.exec(stderr)?.[2] ?? '').startsWith(PINS);

/** Which key a server showed, and where another one is on file. */
function keysIn(stderr: string): string {
  const shown = /SHA256:[A-Za-z0-9+/]+/.exec(stderr)?.[0];
  const onFile = OFFENDING.exec(stderr);
  return [
    ...(shown === undefined ? [] : [`it shows ${shown}`]),
    ...(onFile === null
      ? []
      : [
          isPinned(stderr)
            ? `the inventory pins another ${onFile[1]!} key`
            : `another ${onFile[1]!} key is in ${onFile[2]!}`,
        ]),
  ]
    .map((words) => `, ${words}`)
    .join('');
}

/** The error for a failed connection of OpenSSH, from what it wrote on stderr. */
export function opensshFailure(host: Host, stderr: string): ConnectError {
  const kind = KINDS.find(({ said }) => said.test(stderr));
  const lines = stderr
    .trim()
    .split(/\r?\n/)
    .filter((line) => !/^[@\s]*$/.test(line));
  const last = lines.at(-1) ?? 'ssh ended without a word';
  const detail = kind === undefined ? last : `${kind.message}${keysIn(stderr)} (ssh: ${last})`;
  const remedy = isPinned(stderr) ? PINNED_REMEDY : kind?.remedy;
  // As with the built-in client: a host that does not answer is not worth a retry.
  const cause = Object.assign(new Error(stderr), kind?.failure ?? {});
  return new ConnectError(host.name, `${whereOf(host)}: ${detail}`, {
    retryable: kind?.retryable ?? true,
    ...(remedy === undefined ? {} : { remedy }),
    cause,
  });
}

/** How to dial with the system's OpenSSH. */
export interface OpensshOptions {
  readonly policy: HostKeyPolicy;
  /** The user's home folder. */
  readonly home: string;
  /**
   * Makes the folder for configurations and control sockets, which no other user may enter: a process that reaches a
   * control socket is logged in. Default: below the system's folder of temporary files.
   */
  readonly makeFolder?: () => string;
  /** Until the host answers, in ms; default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Gives up dialling. */
  readonly signal?: AbortSignal;
  readonly pause?: Pause;
  /** 0 ≤ x < 1, for the jitter of retries. */
  readonly random?: () => number;
}

const CONNECT_MS = 10_000;
/** Added to the time to answer, in ms: the operator may have to touch a security key. */
const LOGIN_MS = 30_000;
/** Its handshakes take longer than the built-in client's: a server that takes few at once refuses more of them. */
const RETRIES = 6;
/** sshd's default MaxStartups is 10, and a bastion is connected to once for each host. */
const HANDSHAKES = 8;

/** True if this machine's ssh knows the option. False for an ssh that does not start: connecting says why. */
const knowsOption = (option: string): Promise<boolean> =>
  new Promise((resolve) => {
    execFile('ssh', ['-F', 'none', '-o', option, '-G', '--', 'localhost'], { timeout: CONNECT_MS }, (error) =>
      resolve(error === null),
    );
  });

/**
 * Dials with the system's OpenSSH instead of the built-in client: whatever it can do (host and user certificates,
 * `@cert-authority`, security keys, post-quantum key exchange, ProxyCommand), kbuild can. One process a connection, one
 * more for each command under way.
 */
export function opensshDialler(options: OpensshOptions): SshDialler {
  const pause = options.pause ?? realPause;
  const connectTimeoutMs = options.connectTimeoutMs ?? CONNECT_MS;
  const makeFolder = options.makeFolder ?? (() => mkdtempSync(join(tmpdir(), 'kbuild-openssh-')));
  const handshakes = limiter(HANDSHAKES);
  let folder: string | undefined;
  let made = 0;
  let known: Promise<boolean> | undefined;

  const connect = async (host: Host) => {
    const hasKnownHostsCommand = await (known ??= knowsOption('KnownHostsCommand=none'));
    const place = (folder ??= makeFolder());
    const name = String(++made);
    const put = (file: string, text: string): string => {
      const path = join(place, file);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    };
    const config = put(`config-${name}`, configFile(host, { ...options, connectTimeoutMs, hasKnownHostsCommand, put }));
    const { bastions = [], throughOthers = false } = host.ssh;
    const giveBack = bastions.length > 0 || throughOthers ? await handshakes.take() : () => undefined;
    try {
      return await connectMaster({
        ...options,
        config,
        address: host.address,
        socket: join(place, name),
        pause,
        deadlineMs: connectTimeoutMs + LOGIN_MS,
      });
    } catch (error) {
      throw opensshFailure(host, (error as Error).message);
    } finally {
      giveBack();
    }
  };

  return {
    dial: (host) =>
      overLinks(
        host.name,
        whereOf(host),
        () => withRetries(() => connect(host), { ...options, pause, retries: RETRIES }),
        pause,
      ),
    close: () => {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
      folder = undefined;
    },
  };
}
