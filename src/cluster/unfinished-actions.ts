import { Refused } from '../errors.ts';
import type { Fleet } from '../facts/fleet.ts';
import { isForeignAction } from '../facts/marker.ts';
import { paths, windowsPaths } from '../paths.ts';

/**
 * Refuses hosts on which another action was cut off that only its own command may finish. `command`: the one that is refused; `own`: the
 * action that it finishes itself.
 */
export function unfinishedActions({ hosts }: Fleet, command: string, own?: string): readonly Refused[] {
  return hosts.flatMap(({ os, host, facts: { marker } }) => {
    if (marker === 'unreadable')
      return [
        new Refused(
          host.name,
          `the marker ${os === 'windows' ? windowsPaths.marker : paths.marker} cannot be read: it is corrupt, or a newer kbuild wrote it`,
          'finish the action with the kbuild that began it; if none is under way, delete the file',
        ),
      ];
    if (marker === 'absent' || marker.action === own || !isForeignAction(marker)) return [];
    return [
      new Refused(
        host.name,
        `an unfinished ${marker.action} of ${marker.cluster} lies here (${marker.stage})`,
        `finish it with the command that began it, then run \`kbuild ${command}\` again`,
      ),
    ];
  });
}
