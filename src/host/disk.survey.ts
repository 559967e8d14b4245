import type { LinuxHost } from '../inventory/inventory.ts';
import { script } from '../templates.ts';
import { onEach, type Surveyed, type Surveyor } from './surveyor.survey.ts';

/** How long a disk takes to write and sync. */
export interface DiskSync {
  readonly medianMs: number;
  readonly maxMs: number;
  /** The folder of etcd's data, where the survey writes. */
  readonly folder: string;
}

const WRITES = 60;

/** Measures the disks of etcd's data: the median and the longest of sixty small writes, each synced. */
export const diskSync = (
  on: Surveyor,
  hosts: readonly LinuxHost[],
  folder: string,
): Promise<readonly Surveyed<DiskSync>[]> =>
  onEach(hosts, async (host) => {
    const out = await on(host).run(script('host/survey-disk.sh', { PLACE: folder, COUNT: WRITES }));
    const ms = out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => Number(line) * 1000)
      .toSorted((a, b) => a - b);
    if (ms.length === 0 || ms.some(Number.isNaN)) throw new Error(`no times in: ${out.slice(0, 200)}`);
    return { medianMs: ms[Math.floor(ms.length / 2)]!, maxMs: ms.at(-1)!, folder };
  });

/** `works`, or the error of a trial mount of overlayfs. */
export type OverlayTrial = 'works' | { readonly error: string };

/** Mounts an overlay in the runtime's data folder, writes to it, and removes it. */
export const overlayTrial = (
  on: Surveyor,
  hosts: readonly LinuxHost[],
  folderOf: (host: LinuxHost) => string,
): Promise<readonly Surveyed<OverlayTrial>[]> =>
  onEach(hosts, async (host) => {
    const answer = (await on(host).run(script('host/survey-overlay.sh', { PLACE: folderOf(host) }))).trim();
    return answer === 'works' ? 'works' : { error: answer };
  });
