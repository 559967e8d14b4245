import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from './flock.ts';
import { paths } from './paths.ts';

/** Settings of the kernel that no namespace keeps apart: systemd, kubelet and kubeadm of a host write this machine's. */
const SYSCTLS = [
  ...['vm/overcommit_memory', 'vm/panic_on_oom', 'kernel/panic', 'kernel/panic_on_oops', 'kernel/keys/root_maxkeys'],
  ...[
    'kernel/keys/root_maxbytes',
    'kernel/sysrq',
    'kernel/core_pattern',
    'kernel/core_pipe_limit',
    'kernel/pid_max',
    'fs/inotify/max_user_instances',
  ],
  ...[
    'fs/inotify/max_user_watches',
    'fs/protected_hardlinks',
    'fs/protected_symlinks',
    'fs/protected_regular',
    'fs/protected_fifos',
  ],
];

const file = join(paths.services, 'sysctls.json');

/**
 * Limits that a machine of its own has for itself: all hosts together use up this machine's. With the usual 128 inotify
 * instances a third host's kubelet and kube-proxy end with "too many open files".
 */
const LIMITS = { 'fs/inotify/max_user_instances': 8192, 'fs/inotify/max_user_watches': 1_048_576 } as const;

/** Raises what hosts share. Idempotent; `restoreSysctls` takes it back. */
export async function raiseLimits(): Promise<void> {
  for (const [name, least] of Object.entries(LIMITS)) {
    const path = `/proc/sys/${name}`;
    if (Number(await readFile(path, 'utf8')) < least) await writeFile(path, String(least));
  }
}

/** Remembers them as they were before the first host. */
export async function saveSysctls(): Promise<void> {
  await withLock('sysctls', async () => {
    if (existsSync(file)) return;
    await mkdir(paths.services, { recursive: true });
    const values = await Promise.all(
      SYSCTLS.map(async (name) => [name, await readFile(`/proc/sys/${name}`, 'utf8').catch(() => '')]),
    );
    await writeFile(file, JSON.stringify(Object.fromEntries(values.filter(([, value]) => value !== ''))));
  });
}

/** Sets back those that have changed since. */
export async function restoreSysctls(): Promise<void> {
  await withLock('sysctls', async () => {
    if (!existsSync(file)) return;
    const values = JSON.parse(await readFile(file, 'utf8')) as Readonly<Record<string, string>>;
    for (const [name, value] of Object.entries(values)) {
      const path = `/proc/sys/${name}`;
      if ((await readFile(path, 'utf8')) !== value) await writeFile(path, value);
    }
    await rm(file);
  });
}
