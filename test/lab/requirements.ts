import { mkdir, readFile, statfs } from 'node:fs/promises';
import { Unmet } from './errors.ts';
import { withLock } from './flock.ts';
import { labDir } from './paths.ts';
import { progress } from './progress.ts';
import { attempt, run } from './run.ts';
import { GO } from './versions.ts';

/** Programs the lab calls, and Debian's packages that have them. None of these starts a daemon. */
const PACKAGES = [
  ...[
    'systemd-container',
    'debootstrap',
    'iproute2',
    'iptables',
    'nftables',
    'openssh-client',
    'skopeo',
    'dpkg-dev',
    'apt-utils',
  ],
  ...['gnupg', 'util-linux', 'curl', 'openssl', 'gcc', 'libc6-dev', 'debian-archive-keyring'],
];

const GIB = 2 ** 30;

/** Throws Unmet unless this is root on Debian 12. */
export async function requireMachine(): Promise<void> {
  if (process.getuid?.() !== 0)
    throw new Unmet('the lab makes namespaces and mounts: run it as root (sudo npm run lab -- …)');
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  if (!/^ID=debian$/m.test(release) || !/^VERSION_ID="12"$/m.test(release)) {
    throw new Unmet('the lab takes its hosts and tools from Debian 12: run it on one (a virtual machine will do)');
  }
}

/** Throws Unmet unless that much is free where the lab keeps its things. `forWhat` says who needs it. */
export async function requireDisk(gib: number, forWhat: string): Promise<void> {
  await mkdir(labDir, { recursive: true });
  const { bavail, bsize } = await statfs(labDir);
  if (bavail * bsize >= gib * GIB) return;
  const free = ((bavail * bsize) / GIB).toFixed(1);
  throw new Unmet(
    `${labDir} has ${free} GiB free, the lab needs ${gib.toFixed(1)} ${forWhat}: free some, end hosts (npm run lab -- status, npm run lab -- down HOST), or set KBUILD_LAB_DIR to a larger disk`,
  );
}

/** GiB that a control plane takes at most, and what must stay free beside all hosts so that no kubelet evicts pods. */
const DISK_OF_HOST = 1.5;
const DISK_KEPT_FREE = 1;

/** Throws Unmet unless so many hosts more find room. */
export function requireDiskForHosts(count: number): Promise<void> {
  const one = `${String(DISK_OF_HOST)} a host`;
  return requireDisk(DISK_KEPT_FREE + count * DISK_OF_HOST, `for ${String(count)} more (${one})`);
}

/** Throws Unmet unless Go is there and new enough to build the newest Kubernetes of the lab. */
export async function requireGo(): Promise<void> {
  const wanted = GO.join('.');
  const remedy = `install Go ${wanted} or newer (https://go.dev/doc/install) and put it into PATH`;
  const result = await attempt('go', ['env', 'GOVERSION']).catch(() => undefined);
  const found = /^go(\d+)\.(\d+)/.exec(result?.stdout ?? '');
  if (found === null) throw new Unmet(`no Go toolchain found: ${remedy}`);
  const [major, minor] = [Number(found[1]), Number(found[2])];
  if (major > GO[0] || (major === GO[0] && minor >= GO[1])) return;
  throw new Unmet(`Go ${major}.${minor} is too old to build Kubernetes: ${remedy}`);
}

/** Installs the Debian packages that the lab needs and this machine lacks. */
export async function installPackages(): Promise<void> {
  const missing = await missingPackages();
  if (missing.length === 0) return;
  await withLock('apt', async () => {
    progress(`installs ${missing.join(' ')}`);
    const env = { DEBIAN_FRONTEND: 'noninteractive', NEEDRESTART_SUSPEND: '1' };
    const wait = ['-q', '-y', '-o', 'DPkg::Lock::Timeout=300'];
    await run('apt-get', [...wait, 'update'], { env });
    await run('apt-get', [...wait, 'install', '--no-install-recommends', ...missing], { env });
  });
}

async function missingPackages(): Promise<readonly string[]> {
  const { stdout } = await attempt('dpkg-query', ['-W', '-f', '${db:Status-Status} ${Package}\n', ...PACKAGES]);
  const installed = new Set(
    stdout.split('\n').flatMap((line) => (line.startsWith('installed ') ? [line.slice(10)] : [])),
  );
  return PACKAGES.filter((name) => !installed.has(name));
}
