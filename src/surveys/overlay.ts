import type { LinuxHost } from '../model/inventory.ts';
import { script } from '../templates.ts';
import { onEach, type Surveyed, type Surveyor } from './surveyed.ts';

/** `works`, or the error of a trial mount of overlayfs. */
export type OverlayTrial = 'works' | { readonly error: string };

/** Mounts an overlay in the runtime's data folder, writes to it, and removes it. */
export const overlayTrial = (
  on: Surveyor,
  hosts: readonly LinuxHost[],
  folderOf: (host: LinuxHost) => string,
): Promise<readonly Surveyed<OverlayTrial>[]> =>
  onEach(hosts, async (host) => {
    const answer = (await on(host).run(script('linux/survey-overlay.sh', { PLACE: folderOf(host) }))).trim();
    return answer === 'works' ? 'works' : { error: answer };
  });
