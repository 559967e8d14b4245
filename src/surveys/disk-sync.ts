import type { LinuxHost } from '../model/inventory.ts';
import { script } from '../templates.ts';
import { onEach, type Surveyed, type Surveyor } from './surveyed.ts';

/** How long writes of a disk take until they are safe. */
export interface DiskSync {
  readonly medianMs: number;
  readonly maxMs: number;
  /** The folder that was measured: that of etcd's data. */
  readonly folder: string;
}

const WRITES = 60;

/** Measures the disks that will hold etcd: the median and the longest of sixty small writes, each synced. */
export const diskSync = (
  on: Surveyor,
  hosts: readonly LinuxHost[],
  folder: string,
): Promise<readonly Surveyed<DiskSync>[]> =>
  onEach(hosts, async (host) => {
    const out = await on(host).run(script('linux/survey-disk.sh', { PLACE: folder, COUNT: WRITES }));
    const ms = out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => Number(line) * 1000)
      .toSorted((a, b) => a - b);
    if (ms.length === 0 || ms.some(Number.isNaN)) throw new Error(`no times in: ${out.slice(0, 200)}`);
    return { medianMs: ms[Math.floor(ms.length / 2)]!, maxMs: ms.at(-1)!, folder };
  });
