import { existsSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Unmet } from './errors.ts';
import { withLock } from './flock.ts';
import { goToolchain } from './go.ts';
import { labDir } from './paths.ts';
import { progress } from './progress.ts';
import { attempt, run } from './run.ts';

/** Programs the lab calls, and Debian's packages that have them. None of these starts a daemon. */
const PACKAGES = [
  ...[
    'systemd-container',
    'debootstrap',
    'iproute2',
    'iptables',
    'nftables',
    'strace',
    'openssh-client',
    'skopeo',
    'dpkg-dev',
    'apt-utils',
  ],
  ...['gnupg', 'util-linux', 'curl', 'openssl', 'gcc', 'libc6-dev', 'debian-archive-keyring', 'rpm', 'createrepo-c'],
];

const GIB = 2 ** 30;

/** What of the machine itself is missing, each with what to do about it. */
async function machineLacks(): Promise<readonly string[]> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const found = /^PRETTY_NAME="?(.*?)"?$/m.exec(release)?.[1] ?? 'an unknown system';
  const isDebian = /^ID=debian$/m.test(release) && /^VERSION_ID="12"$/m.test(release);
  const isRoot = process.getuid?.() === 0;
  const mayIsolate = isRoot && (await attempt('unshare', ['--mount', '--net', '--uts', 'true'])).code === 0;
  const hasOverlay =
    /\boverlay$/m.test(await readFile('/proc/filesystems', 'utf8').catch(() => '')) ||
    (await attempt('modprobe', ['overlay']).catch(() => undefined))?.code === 0;
  return [
    ...(isDebian ? [] : [`Debian 12 (found ${found}): run it on one; a virtual machine will do`]),
    ...(isRoot ? [] : ['root, for namespaces and mounts: run the same command with sudo']),
    ...(!isRoot || mayIsolate
      ? []
      : ['namespaces (this root may not make any): run it on a machine or a virtual machine, not in a container']),
    ...(hasOverlay ? [] : ['the kernel module overlay: apt-get install -y linux-image-amd64, and boot that kernel']),
  ];
}

/** Throws Unmet with a list of all that is missing. */
function requireNothing(lacks: readonly string[]): void {
  if (lacks.length > 0)
    throw new Unmet(`this machine lacks what the lab needs:\n${lacks.map((one) => `  - ${one}`).join('\n')}`);
}

/** Throws Unmet unless this is root on Debian 12, in a system that can have hosts. */
export const requireMachine = async (): Promise<void> => requireNothing(await machineLacks());

/** What a command needs beside the machine itself. */
export interface Needs {
  /** GiB for hosts, and for a build where something must be built. */
  readonly diskGib: number;
  /** A Go toolchain, because something must be compiled. */
  readonly go: boolean;
  /** Debian packages beside those of the lab. */
  readonly packages?: readonly string[];
}

/**
 * Throws Unmet with everything that is missing, and how each is had. Debian packages are installed, as far as this user may.
 */
export async function requireAll({ diskGib, go, packages = [] }: Needs): Promise<void> {
  const lacks = [...(await machineLacks())];
  const debs = await missingPackages([...PACKAGES, ...packages]).catch(() => [...PACKAGES, ...packages]);
  if (lacks.length > 0 && debs.length > 0)
    lacks.push(`Debian packages: apt-get update && apt-get install -y --no-install-recommends ${debs.join(' ')}`);
  const disk = await diskLack(diskGib, 'in all');
  if (disk !== undefined) lacks.push(disk);
  if (go) {
    const { lack } = await goToolchain();
    if (lack !== undefined) lacks.push(lack);
  }
  requireNothing(lacks);
  await installPackages(packages);
}

/** What is said where less than that is free. `forWhat` says who needs it. */
async function diskLack(gib: number, forWhat: string): Promise<string | undefined> {
  const folder = existingParent(labDir);
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= gib * GIB) return undefined;
  const free = ((bavail * bsize) / GIB).toFixed(1);
  return `${gib.toFixed(1)} GiB of disk ${forWhat} (${labDir} has ${free}): free some, end hosts (npm run lab -- status, npm run lab -- down HOST), or set KBUILD_LAB_DIR to a larger disk`;
}

const existingParent = (folder: string): string => (existsSync(folder) ? folder : existingParent(dirname(folder)));

/** GiB that a control plane takes at most, what must stay free beside all hosts so that no kubelet evicts pods, and a build. */
const DISK_OF_HOST = 1.5;
const DISK_KEPT_FREE = 1;
export const DISK_OF_BUILD = 15;
/** … and a build of which everything is downloaded. */
export const DISK_OF_DOWNLOADS = 6;

/** GiB that so many hosts more need. */
export const diskOfHosts = (count: number): number => DISK_KEPT_FREE + count * DISK_OF_HOST;

/** Throws Unmet unless so many hosts more find room. */
export async function requireDiskForHosts(count: number): Promise<void> {
  const lack = await diskLack(diskOfHosts(count), `for ${String(count)} more hosts`);
  if (lack !== undefined) throw new Unmet(`the lab needs ${lack}`);
}

/** Installs the Debian packages that the lab needs, and these, where this machine lacks them. */
export async function installPackages(more: readonly string[] = []): Promise<void> {
  const missing = await missingPackages([...PACKAGES, ...more]);
  if (missing.length === 0) return;
  await withLock('apt', async () => {
    progress(`installs ${missing.join(' ')}`);
    const env = { DEBIAN_FRONTEND: 'noninteractive', NEEDRESTART_SUSPEND: '1' };
    const wait = ['-q', '-y', '-o', 'DPkg::Lock::Timeout=300'];
    await run('apt-get', [...wait, 'update'], { env });
    await run('apt-get', [...wait, 'install', '--no-install-recommends', ...missing], { env });
  });
}

async function missingPackages(names: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await attempt('dpkg-query', ['-W', '-f', '${db:Status-Status} ${Package}\n', ...names]);
  const installed = new Set(
    stdout.split('\n').flatMap((line) => (line.startsWith('installed ') ? [line.slice(10)] : [])),
  );
  return names.filter((name) => !installed.has(name));
}
