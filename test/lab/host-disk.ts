import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { hostSettings } from './host-settings.ts';
import { portOf, namespaceOf } from './network-plan.ts';
import { hostDir, paths } from './paths.ts';
import { attempt, run } from './run.ts';
import { keepLogs } from './test-run.ts';

/** Throws away everything the host ever wrote. It must be off. Host keys stay: they lie beside the disk. */
export async function wipeDisk(name: string): Promise<void> {
  await unmount(join(hostDir(name), 'root'));
  await keepLogs(name);
  const disk = join(hostDir(name), 'disk');
  if (!existsSync(disk)) return;
  await discard(disk, name);
}

/** Removes all that a host is on this machine: mounts, namespace, interfaces, cgroups, its folder. It must be off. */
export async function removeHost(name: string): Promise<void> {
  const dir = hostDir(name);
  if (!existsSync(join(dir, 'host.env'))) return;
  const { octet } = hostSettings(name);
  await wipeDisk(name);
  await attempt('ip', ['netns', 'delete', namespaceOf(name)]);
  for (const nic of [0, 1] as const) await attempt('ip', ['link', 'delete', portOf(octet, nic)]);
  await run(join(import.meta.dirname, 'host/cgroup.sh'), ['remove', name]);
  await discard(dir, name);
}

/** Takes a folder away in one step, so that no crash leaves half of one, and deletes its thousands of files in the background. */
async function discard(dir: string, name: string): Promise<void> {
  const trash = join(paths.hosts, `.trash-${name}-${Date.now()}`);
  await rename(dir, trash);
  spawn('rm', ['-rf', trash], { detached: true, stdio: 'ignore' }).unref();
}

/** Unmounts whatever is mounted there, however often. */
export async function unmount(dir: string): Promise<void> {
  while ((await attempt('mountpoint', ['-q', dir])).code === 0) {
    // Lazily where something of the machine still looks in (a shell, a search): it is gone from the tree at once.
    if ((await attempt('umount', [dir])).code !== 0) await run('umount', ['--lazy', dir]);
  }
}
