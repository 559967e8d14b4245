import { ConnectError } from '../errors.ts';
import type { Host } from '../inventory/inventory.ts';
import { fingerprint, readKnownHosts, recordHostKey } from './known-hosts-files.ts';
import { keyTypeOf, keyTypesOnFile, linesFor, verdict } from './known-hosts.ts';

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

/** A server shows one key, of the first type that it is asked for and has. */
export function hostKeyAlgorithms(onFile: readonly string[]): readonly string[] {
  const first = onFile.flatMap((type) => (type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [type]));
  return [...new Set([...first.filter((name) => ALGORITHMS.includes(name)), ...ALGORITHMS])];
}

/** Reads the known_hosts files of a host, anew for each connection. @throws ConnectError when one cannot be read. */
export function hostKeyGuard(host: Host, policy: HostKeyPolicy): HostKeyGuard {
  const { address, name } = host;
  const { port, knownHostsFiles: files } = host.ssh;
  const refuse = (message: string, remedy: string, cause?: unknown) =>
    new ConnectError(name, `${address}:${String(port)}: ${message}`, { retryable: false, remedy, cause });
  let lines;
  try {
    lines = linesFor(readKnownHosts(files), address, port);
  } catch (error) {
    throw refuse(`cannot read known_hosts: ${(error as Error).message}`, 'make the file readable', error);
  }
  const onFile = lines;
  let refused: ConnectError | undefined;

  const accepted = (key: Buffer): ConnectError | undefined => {
    const shown = `${keyTypeOf(key)} ${fingerprint(key)}`;
    const found = verdict(onFile, key);
    switch (found.kind) {
      case 'known':
        return undefined;
      case 'revoked':
        return refuse(`the host key ${shown} is revoked at ${found.at}`, 'give the host a new key');
      case 'changed':
        return refuse(
          `the host key has CHANGED: the host shows ${shown}, but ${found.at} has ${keyTypeOf(found.onFile)} ${fingerprint(found.onFile)}`,
          `find out why: somebody may be listening. If the host was set up anew, remove the line ${found.at}`,
        );
      case 'unknown': {
        const file = files[0];
        if (policy === 'strict' || file === undefined)
          return refuse(
            `the host key ${shown} is not known`,
            `compare the fingerprint with the host's, then: ssh-keyscan -p ${String(port)} ${address} >> ${file ?? '~/.ssh/known_hosts'}` +
              ' (or run with --accept-new-host-keys)',
          );
        recordHostKey(file, address, port, key);
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
