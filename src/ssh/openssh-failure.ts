import { basename } from 'node:path';
import { ConnectError } from '../errors.ts';
import type { Host } from '../inventory/inventory.ts';
import type { Failure } from './connect-error.ts';
import { PINS } from './openssh-config.ts';
import { whereOf } from './target.ts';

interface Kind {
  readonly said: RegExp;
  readonly message: string;
  readonly retryable: boolean;
  readonly remedy?: string;
  /** What the failure of the built-in client has in the same case: it decides how often kbuild tries again. */
  readonly failure?: Pick<Failure, 'level' | 'code'>;
}

const PINNED_REMEDY =
  'find out why: another machine may answer in its place. If the host was set up anew, change ssh.hostKey';

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
      'find out why: another machine may answer in its place. If the host was set up anew, remove its line from known_hosts',
  },
  {
    said: /host key is known for|Host key verification failed|Host certificate/i,
    message: 'the host key is not known',
    retryable: false,
    remedy:
      'put the key, or "@cert-authority" and the key of its authority, into known_hosts (or run with --accept-new-host-keys)',
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
