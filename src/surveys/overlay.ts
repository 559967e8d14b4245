import type { LinuxHost } from '../model/inventory.ts';
import { script } from '../templates.ts';
import { onEach, type Surveyed, type Surveyor } from './surveyed.ts';

/** `works`, or what a trial mount of overlayfs said. */
export type OverlayTrial = 'works' | { readonly said: string };

/** Mounts an overlay in the runtime's folder of data, writes to it, and takes it away again. */
export const overlayTrial = (
  on: Surveyor,
  hosts: readonly LinuxHost[],
  folder: string,
): Promise<readonly Surveyed<OverlayTrial>[]> =>
  onEach(hosts, async (host) => {
    const said = (await on(host).run(script('linux/survey-overlay.sh', { PLACE: folder }))).trim();
    return said === 'works' ? 'works' : { said };
  });
