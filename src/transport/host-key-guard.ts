import { ConnectError } from '../errors.ts';
import { whereOf, type Endpoint } from './endpoint.ts';
import { fingerprint, recordHostKey, type KnownHostsReader } from './known-hosts-files.ts';
import { authorityFor, keyTypeOf, keyTypesOnFile, verdict } from './known-hosts.ts';

/** What to do with a key of a host that no file knows. A changed or revoked key is refused either way. */
export type HostKeyPolicy = 'strict' | 'accept-new';

/** Judges the key of one connection to one host. */
export interface HostKeyGuard {
  /** Algorithms to ask for; those of keys on file come first. */
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

/** A server shows one key, of the first type that it is asked for and has: types on file come first, as in OpenSSH. */
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
  const { port, knownHostsFiles: files, hostKeys, hostKeyAlias } = ssh;
  const refuse = (message: string, remedy: string, cause?: unknown) =>
    new ConnectError(name, `${whereOf(endpoint)}: ${message}`, { retryable: false, remedy, cause });
  if (hostKeys !== undefined) return pinned(hostKeys, refuse);
  const known = hostKeyAlias ?? address;
  // An alias stands in the file as it is, without a port.
  const knownPort = hostKeyAlias === undefined ? port : 22;
  let lines;
  try {
    lines = knownHosts(files)(known, knownPort);
  } catch (error) {
    throw refuse(`cannot read known_hosts: ${(error as Error).message}`, 'make the file readable', error);
  }
  const onFile = lines;
  let refused: ConnectError | undefined;

  const accepted = (key: Buffer): ConnectError | undefined => {
    const found = verdict(onFile, key);
    if (found.kind === 'known') return undefined;
    const shown = `${keyTypeOf(key)} ${fingerprint(key)}`;
    switch (found.kind) {
      case 'revoked':
        return refuse(`the host key ${shown} is revoked at ${found.at}`, 'give the host a new key');
      case 'changed':
        return refuse(
          `the host key has CHANGED: the host shows ${shown}, but ${found.at} has ${keyTypeOf(found.onFile)} ${fingerprint(found.onFile)}`,
          `find out why: somebody may be listening. If the host was set up anew, remove the line ${found.at}`,
        );
      case 'unknown': {
        const file = files[0];
        const authority = authorityFor(onFile);
        if (authority !== undefined && policy === 'strict')
          return refuse(
            `${authority} trusts a certificate authority for it, and the built-in client cannot check host certificates; its plain key ${shown} is not known`,
            `set ssh.client: openssh, or put "hostKey: ${fingerprint(key)}" under ssh of this host, after comparing it (or run with --accept-new-host-keys)`,
          );
        if (policy === 'strict' || file === undefined)
          return refuse(
            `the host key ${shown} is not known`,
            `compare the fingerprint with the host's, then: ssh-keyscan -p ${String(port)} ${address} >> ${file ?? '~/.ssh/known_hosts'}` +
              `, or put "hostKey: ${fingerprint(key)}" under ssh of this host` +
              ' (or run with --accept-new-host-keys)',
          );
        recordHostKey(file, known, knownPort, key);
        return undefined;
      }
    }
  };

  return {
    algorithms: hostKeyAlgorithms(keyTypesOnFile(onFile)),
    accepts(key) {
      try {
        refused = accepted(key);
      } catch (error) {
        refused = refuse(`cannot record the host key: ${(error as Error).message}`, 'make the file writable', error);
      }
      return refused === undefined;
    },
    refusal: () => refused,
  };
}

type Refuse = (message: string, remedy: string) => ConnectError;

/** Only keys of the inventory, whatever known_hosts and the policy say. */
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
            `the host key ${keyTypeOf(key)} ${shown} is not the one of the inventory (${hostKeys.map(shortened).join(', ')})`,
            'find out why: somebody may be listening. If the host was set up anew, change ssh.hostKey',
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
