import { join } from 'node:path';

/** The lab's folder: caches, hosts, keys. `KBUILD_LAB_DIR`, or /var/cache/kbuild-lab. Never inside the checkout. */
export const labDir = process.env['KBUILD_LAB_DIR'] ?? '/var/cache/kbuild-lab';

/** Where the lab keeps what. Everything below `labDir` may be deleted when no host is up. */
export const paths = {
  /** Artifacts, one folder each, named by the hash of their recipe. */
  build: join(labDir, 'build'),
  /** One folder a host. */
  hosts: join(labDir, 'hosts'),
  /** Disks that hosts can boot from, one folder each (prepared-disk.ts). */
  prepared: join(labDir, 'prepared'),
  /** What the web server serves: links to artifacts. */
  www: join(labDir, 'www'),
  /** The registry's storage: a link to an artifact. */
  registry: join(labDir, 'registry'),
  /** GnuPG home of the keys that sign the package repositories. */
  gnupg: join(labDir, 'gnupg'),
  /** Pids, logs and settings of the shared services. */
  services: join(labDir, 'services'),
  locks: join(labDir, 'locks'),
  /** Private key that every host accepts for root and ops. */
  identityFile: join(labDir, 'ssh', 'id_ed25519'),
  /** Host keys of all hosts that exist, by address and by name. */
  knownHostsFile: join(labDir, 'ssh', 'known_hosts'),
  ssh: join(labDir, 'ssh'),
} as const;

/** The folder of one host. */
export const hostDir = (name: string): string => join(paths.hosts, name);
