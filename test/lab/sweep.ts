import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unmount } from './host-disk.ts';
import { labDir, paths } from './paths.ts';
import { attempt } from './run.ts';

/** Removes what crashes of the lab may have left: its namespaces, interfaces, cgroups and mounts, known by their names. No host may run. */
export async function sweep(): Promise<void> {
  const namespaces = (await attempt('ip', ['netns', 'list'])).stdout.match(/^kblab-\S+/gm) ?? [];
  for (const name of namespaces) await attempt('ip', ['netns', 'delete', name]);
  const links = (await attempt('ip', ['-o', 'link'])).stdout.match(/\bkbh\d+n[01]\b/g) ?? [];
  for (const name of new Set(links)) await attempt('ip', ['link', 'delete', name]);
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  const below = [...mounts.matchAll(/^\S+ (\S+) /gm)]
    .map(([, dir]) => dir!)
    .filter((dir) => dir.startsWith(`${labDir}/`));
  for (const dir of below.toReversed()) await unmount(dir);
  await attempt('sh', ['-c', 'rmdir /sys/fs/cgroup/kbuild-lab /sys/fs/cgroup/*/kbuild-lab 2>/dev/null']);
  await rm(paths.hosts, { recursive: true, force: true });
  await rm(join(paths.services, 'registry.yml'), { force: true });
}
