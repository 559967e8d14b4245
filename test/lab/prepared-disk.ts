/**
 * A disk on which kbuild has prepared the host and installed the container runtime, Kubernetes' packages and the images of a control
 * plane. Hosts of scenarios that are not about installing boot from it: their `up` begins with the cluster itself.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { withLock } from './flock.ts';
import { unmount } from './host-disk.ts';
import { cutPower } from './host-power.ts';
import { hostNames, hostSettings } from './host-settings.ts';
import { inventory, type LabInventory } from './inventory.ts';
import { inventoryFile, kbuild, PROGRAM } from './kbuild.ts';
import * as lab from './lab.ts';
import { hostDir, paths } from './paths.ts';
import { progress } from './progress.ts';
import { ok } from './ok.ts';

/** The host that the disk is made with; it does not outlive that. */
const MAKER = 'preparedcp1';
/** What runs before the first host of a cluster is initialized, but for the balancer and names. */
const PHASES = 'prepare,runtime,packages,images';
/** How many disks stay, besides those that hosts lie over. One takes 1.2 GB. */
const KEPT = 2;

/**
 * The folder of that disk, for `lab.reset`. It is made once for a build of kbuild and of what the lab serves, in about a minute.
 * @throws AssertionError with the output of `kbuild up` if that failed
 */
export async function preparedDisk(): Promise<string> {
  await lab.up([]);
  return withLock('prepared-disk', async () => {
    const folder = join(paths.prepared, key());
    if (!existsSync(folder)) await makeDisk(folder);
    const now = new Date();
    await utimes(folder, now, now);
    await dropOld(folder);
    return folder;
  });
}

/** Changes with the program, with what the hosts install and with the script that makes hosts of it. */
function key(): string {
  const hash = createHash('sha256');
  const root = join(import.meta.dirname, '../..');
  for (const folder of [join(PROGRAM, '../..'), join(root, 'templates')])
    for (const file of readdirSync(folder, { recursive: true, withFileTypes: true }))
      if (file.isFile() && !/\.(?:map|v8|d\.ts)$/.test(file.name))
        hash.update(file.name).update(readFileSync(join(file.parentPath, file.name)));
  const served = ['containerd', 'kubernetes'].flatMap((path) =>
    readdirSync(join(paths.www, path), { recursive: true, encoding: 'utf8' }).filter((name) => name.startsWith('v')),
  );
  hash.update(JSON.stringify(served.sort())).update(readlinkSync(paths.registry));
  hash.update(readFileSync(join(import.meta.dirname, 'inventory.ts'))).update(readFileSync(import.meta.filename));
  return hash.digest('hex').slice(0, 12);
}

async function makeDisk(folder: string): Promise<void> {
  const started = performance.now();
  await lab.down([MAKER]);
  await lab.up([MAKER]);
  const plain: LabInventory = await inventory([MAKER]);
  const { file } = inventoryFile({ ...plain, name: 'prepared' });
  writeFileSync(file, stringify({ ...plain, name: 'prepared' }, { aliasDuplicateObjects: false }));
  ok(await kbuild('up', file, '--yes', '--phase', PHASES));
  // containerd writes its database when it stops.
  await lab.inside(MAKER, 'systemctl stop kubelet containerd; rm -rf /var/log/journal/* /run/log/journal/*; sync');
  await cutPower(MAKER);
  await unmount(join(hostDir(MAKER), 'root'));
  const fresh = `${folder}.new`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { recursive: true });
  for (const part of ['upper', 'containerd']) await rename(join(hostDir(MAKER), 'disk', part), join(fresh, part));
  await rename(fresh, folder);
  await lab.down([MAKER]);
  progress(`prepared disk: made in ${((performance.now() - started) / 1000).toFixed(0)} s`);
}

/** Removes disks of older builds that no host lies over. */
async function dropOld(current: string): Promise<void> {
  const used = new Set([current, ...hostNames().flatMap((name) => hostSettings(name).prepared ?? [])]);
  const others = readdirSync(paths.prepared)
    .map((name) => join(paths.prepared, name))
    .filter((folder) => !used.has(folder));
  const ages = await Promise.all(others.map(async (folder) => ({ folder, at: (await stat(folder)).mtimeMs })));
  for (const { folder } of ages.toSorted((a, b) => b.at - a.at).slice(KEPT))
    await rm(folder, { recursive: true, force: true });
}
