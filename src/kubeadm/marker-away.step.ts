import { paths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import { sh } from '../shell/sh.ts';

/**
 * Removes the marker of an action that has ended. Restores the marker of another action, if that was kept meanwhile.
 */
export const markerAway = (): Command<'sh'> =>
  sh`if [ -e ${paths.markerKept} ]; then mv -f -- ${paths.markerKept} ${paths.marker}; else rm -f -- ${paths.marker}; fi; if [ -d ${paths.state} ]; then sync ${paths.state}; fi`;
