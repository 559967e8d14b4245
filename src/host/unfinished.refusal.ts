import type { Fleet, Observed } from '../cluster/fleet/fleet.ts';
import { Refused } from '../errors.ts';
import { isForeignAction, isOfOwnData, type Marker, RESTORE, UPGRADE } from '../kubeadm/marker.facts.ts';
import { paths, windowsPaths } from '../paths.ts';

/**
 * How an unfinished action that is none of kubeadm's init, join and reset is finished: the command in full, where the
 * marker tells it.
 */
export function finishing(marker: Marker): string {
  if (marker.action === UPGRADE && marker.about !== undefined)
    return `finish it: set kubernetes.version to ${marker.about} and run \`kbuild upgrade\``;
  if (marker.action !== RESTORE) return 'finish it with the command that began it';
  return isOfOwnData(marker)
    ? 'finish it: `kbuild etcd recover`'
    : 'finish it: `kbuild etcd snapshot restore FILE` with the same snapshot';
}

/** Why every command refuses a host whose marker cannot be read; undefined if it can: unknown is never absent. */
export const unreadableMarker = ({ os, host, facts }: Observed): Refused<'unreadable-marker'> | undefined =>
  facts.marker === 'unreadable'
    ? new Refused(
        'unreadable-marker',
        host.name,
        `the marker ${os === 'windows' ? windowsPaths.marker : paths.marker} cannot be read: it is corrupt, or a ` +
          'newer kbuild wrote it',
        'finish the action with the kbuild that began it; if none is under way, delete the file',
      )
    : undefined;

type Unfinished = Refused<'unreadable-marker' | 'unfinished-action'>;

/**
 * Refuses hosts on which another action was cut off that only its own command may finish. `command`: the one that is
 * refused; `own`: the action that it finishes itself.
 */
export function unfinishedActions({ hosts }: Fleet, command: string, own?: string): readonly Unfinished[] {
  return hosts.flatMap((observed): readonly Unfinished[] => {
    const { host, facts } = observed;
    const unreadable = unreadableMarker(observed);
    if (unreadable !== undefined) return [unreadable];
    const { marker } = facts;
    if (typeof marker !== 'object' || marker.action === own || !isForeignAction(marker)) return [];
    return [
      new Refused(
        'unfinished-action',
        host.name,
        `an unfinished ${marker.action} of ${marker.cluster} lies here (${marker.stage})`,
        `${finishing(marker)}, then run \`kbuild ${command}\` again`,
      ),
    ];
  });
}
