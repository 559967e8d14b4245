import { paths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import { sh } from '../shell/sh.ts';

/**
 * Takes the marker of an action away when it has ended. The marker of another action that was kept meanwhile comes
 * back.
 */
export const markerAway = (): Command<'sh'> =>
  sh`if [ -e ${paths.markerKept} ]; then mv -f -- ${paths.markerKept} ${paths.marker}; else rm -f -- ${paths.marker}; fi; if [ -d ${paths.state} ]; then sync ${paths.state}; fi`;
