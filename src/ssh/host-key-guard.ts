import { ConnectError } from '../errors.ts';
import { systemText } from '../shell/text.ts';
import {
  authorityFor,
  fingerprint,
  keyTypeOf,
  keyTypesOnFile,
  type KnownHostsReader,
  recordHostKey,
  verdict,
} from './known-hosts.ts';
import { type Endpoint, whereOf } from './link.ts';

/** How ssh(1) names the type of a key, e.g. `ED25519`. */
const shortType = (key: Buffer): string =>
  keyTypeOf(key)
    .replace(/^ssh-/, '')
    .replace(/^ecdsa-sha2-nistp\d+$/, 'ecdsa')
    .toUpperCase();

/** `ED25519 key fingerprint is SHA256:…`, as ssh(1) shows a key. */
export const keyText = (key: Buffer): string => `${shortType(key)} key fingerprint is ${fingerprint(key)}`;

/** A host showed a key that no file knows. Nothing was sent to it. Exit 3. */
export class UnknownHostKey extends ConnectError {
  /** `address:port` of the machine that showed it: the host, or a bastion on the way. */
  readonly where: string;
  readonly key: Buffer;
  /** As OpenSSH prints it. */
  readonly fingerprint: string;
  /** The file that would know it; undefined if there is none to write to. */
  readonly file: string | undefined;
  /** The name under which that file would know it. */
  readonly known: { readonly address: string; readonly port: number };

  /** `note` stands behind the message. */
  constructor(
    endpoint: Endpoint,
    { key, known, note = '' }: Pick<UnknownHostKey, 'key' | 'known'> & { readonly note?: string },
    remedy: string,
  ) {
    super(endpoint.name, `${whereOf(endpoint)}: the host key is not known: ${keyText(key)}${note}`, {
      retryable: false,
      remedy,
    });
    this.where = whereOf(endpoint);
    this.key = key;
    this.fingerprint = fingerprint(key);
    this.file = endpoint.ssh.knownHostsFiles[0];
    this.known = known;
  }
}

/** What to do with a key of a host that no file knows. A changed or revoked key is refused either way. */
export type HostKeyPolicy = 'strict' | 'accept-new';

/** Verifies the host key of one connection. */
interface HostKeyGuard {
  /** Algorithms to offer; those of keys on file come first. */
  readonly algorithms: readonly string[];
  /** False refuses the key, before anything was sent to its owner. */
  accepts(key: Buffer): boolean;
  /** Why the key was refused; undefined when it was not. */
  refusal(): ConnectError | undefined;
}

/** In OpenSSH's order; no ssh-rsa (SHA-1), no certificates. */
const ALGORITHMS = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
];

const typeOf = (algorithm: string): string => (algorithm.startsWith('rsa-sha2-') ? 'ssh-rsa' : algorithm);

/** A server shows one key, of the first offered type that it has: types on file come first, as in OpenSSH. */
export const hostKeyAlgorithms = (onFile: readonly string[]): readonly string[] => [
  ...ALGORITHMS.filter((name) => onFile.includes(typeOf(name))),
  ...ALGORITHMS.filter((name) => !onFile.includes(typeOf(name))),
];

/**
 * Judges by the keys that the inventory pins, else by the known_hosts files, as they are at this moment.
 * @throws ConnectError when one cannot be read.
 */
export function hostKeyGuard(endpoint: Endpoint, policy: HostKeyPolicy, knownHosts: KnownHostsReader): HostKeyGuard {
  const { address, name, ssh } = endpoint;
  const refuse: Refuse = (message, remedy, cause) =>
    new ConnectError(name, `${whereOf(endpoint)}: ${message}`, { retryable: false, remedy, cause });
  if (ssh.hostKeys !== undefined) return pinned(ssh.hostKeys, refuse);
  const known = ssh.hostKeyAlias ?? address;
  // An alias stands in the file as it is, without a port.
  const knownPort = ssh.hostKeyAlias === undefined ? ssh.port : 22;
  let onFile: KnownLines;
  try {
    onFile = knownHosts(ssh.knownHostsFiles)(known, knownPort);
  } catch (error) {
    throw refuse(`cannot read known_hosts: ${systemText(error)}`, 'make the file readable', error);
  }
  let refused: ConnectError | undefined;
  const accepted = (key: Buffer): ConnectError | undefined => {
    const found = verdict(onFile, key);
    if (found.kind === 'known') return undefined;
    if (found.kind !== 'unknown') return distrusted(key, found, refuse);
    const file = ssh.knownHostsFiles[0];
    if (policy === 'strict' || file === undefined)
      return unknownKey(endpoint, key, { address: known, port: knownPort }, onFile);
    recordHostKey(file, known, knownPort, key);
    return undefined;
  };
  return {
    algorithms: hostKeyAlgorithms(keyTypesOnFile(onFile)),
    accepts(key) {
      try {
        refused = accepted(key);
      } catch (error) {
        refused = refuse(`cannot record the host key: ${systemText(error)}`, 'make the file writable', error);
      }
      return refused === undefined;
    },
    refusal: () => refused,
  };
}

type KnownLines = ReturnType<ReturnType<KnownHostsReader>>;

type Distrust = Extract<ReturnType<typeof verdict>, { readonly kind: 'revoked' | 'changed' }>;

const shownKey = (key: Buffer): string => `${keyTypeOf(key)} ${fingerprint(key)}`;

/** Refuses a key that the files revoke, or that is not the one on file. */
const distrusted = (key: Buffer, found: Distrust, refuse: Refuse): ConnectError =>
  found.kind === 'revoked'
    ? refuse(`the host key ${shownKey(key)} is revoked at ${found.at}`, 'give the host a new key')
    : refuse(
        `the host key has CHANGED: the host shows ${shownKey(key)}, but ${found.at} has ${shownKey(found.onFile)}`,
        'find out why: another machine may answer in its place. If the host was reinstalled, remove the ' +
          `line ${found.at}`,
      );

/** Refuses a key that no file has. */
function unknownKey(endpoint: Endpoint, key: Buffer, known: UnknownHostKey['known'], onFile: KnownLines): ConnectError {
  const pin = `put "hostKey: ${fingerprint(key)}" under ssh of this host`;
  const authority = authorityFor(onFile);
  if (authority !== undefined)
    return new UnknownHostKey(
      endpoint,
      {
        key,
        known,
        note:
          `; ${authority} trusts a certificate authority for it, and the built-in client cannot check host ` +
          'certificates',
      },
      "set ssh.client: openssh; or compare the fingerprint with the host's own, and run again with " +
        `--accept-new-host-keys, or ${pin}`,
    );
  return new UnknownHostKey(endpoint, { key, known }, COMPARE);
}

/** It names no host: hosts that have it in common show it once. */
const COMPARE =
  'compare the fingerprint with the one on the console of the host (ssh-keygen -lf ' +
  '/etc/ssh/ssh_host_ed25519_key.pub), then run again with --accept-new-host-keys, which records it; or name it ' +
  'as ssh.hostKey of the host';

type Refuse = (message: string, remedy: string, cause?: unknown) => ConnectError;

/** Accepts only the keys of the inventory, whatever known_hosts and the policy are. */
function pinned(hostKeys: readonly string[], refuse: Refuse): HostKeyGuard {
  const types = hostKeys.filter((pin) => pin.includes(' ')).map((pin) => pin.split(' ')[0]!);
  let refused: ConnectError | undefined;
  return {
    algorithms: hostKeyAlgorithms(types),
    accepts(key) {
      const shown = fingerprint(key);
      const fits = hostKeys.some((pin) =>
        pin.includes(' ') ? Buffer.from(pin.split(' ')[1]!, 'base64').equals(key) : pin === shown,
      );
      refused = fits
        ? undefined
        : refuse(
            `the host key ${keyTypeOf(key)} ${shown} is not the one of the inventory ` +
              `(${hostKeys.map(shortened).join(', ')})`,
            'find out why: another machine may answer in its place. If the host was reinstalled, change ssh.hostKey',
          );
      return fits;
    },
    refusal: () => refused,
  };
}

const shortened = (pin: string): string => {
  const [type, blob] = pin.split(' ');
  return blob === undefined ? pin : `${type!} ${fingerprint(Buffer.from(blob, 'base64'))}`;
};
