import { paths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import { type JsonObject, objectOf, objectsOf, textIn, textsIn, within } from '../shell/decode.ts';
import { sh } from '../shell/sh.ts';

/**
 * Removes the marker of an action that has ended. Restores the marker of another action, if that was kept meanwhile.
 */
export const markerAway = (): Command<'sh'> =>
  sh`if [ -e ${paths.markerKept} ]; then mv -f -- ${paths.markerKept} ${paths.marker}; else rm -f -- ${paths.marker}; fi; if [ -d ${paths.state} ]; then sync ${paths.state}; fi`;

/** kbuild's record of an unfinished action on a host. It only explains: facts decide. */
export interface Marker {
  readonly cluster: string;
  /** `init`, `join`, `reset`, or the name of an action of another version of kbuild. */
  readonly action: string;
  readonly job: string;
  /**
   * The stage that the action reached: `begun`; `done` as soon as kubeadm has succeeded. Other actions may have more
   * stages.
   */
  readonly stage: string;
  /** The subject of the action, if it records one: the ID of a restore, the version of an upgrade. */
  readonly about?: string | undefined;
  /** The command that runs the action, if it records one: kubeadm's `apply` or `node` for an upgrade. */
  readonly how?: string | undefined;
}

/**
 * A marker as it was written; `absent`, or `unreadable` when it is corrupt. An older marker has no stage: it was begun.
 */
export function markerOf(text: string): Marker | 'absent' | 'unreadable' {
  if (text.trim() === 'absent') return 'absent';
  try {
    const { about, how, ...rest } = objectOf(JSON.parse(text));
    const cluster = textIn(rest['cluster']);
    const action = textIn(rest['action']);
    const job = textIn(rest['job']);
    const stage = textIn(rest['stage'], 'begun');
    if ([cluster, action, job, stage].includes('')) return 'unreadable';
    return {
      cluster,
      action,
      job,
      stage,
      ...(typeof about === 'string' ? { about } : {}),
      ...(typeof how === 'string' ? { how } : {}),
    };
  } catch {
    return 'unreadable';
  }
}

/** The action of a marker on a host whose etcd is being restored. */
export const RESTORE = 'restore';
/**
 * The action of a marker on a host whose upgrade kubeadm did not complete. kbuild never undoes an upgrade because of
 * it.
 */
export const UPGRADE = 'upgrade';

/** Suffix of `about` for a restore from the member's own data instead of a snapshot: `kbuild etcd recover`. */
export const OWN_DATA = 'own-data';

/** True for the marker of `kbuild etcd recover`. */
export const isOfOwnData = (marker: Marker | 'absent' | 'unreadable' | undefined): boolean =>
  typeof marker === 'object' && marker.action === RESTORE && marker.about?.endsWith(`-${OWN_DATA}`) === true;

/** True for the marker of an init that began with the data of a backup: `kbuild restore`. */
export const isInitFromBackup = (marker: Marker | 'absent' | 'unreadable' | undefined): marker is Marker =>
  typeof marker === 'object' && marker.action === 'init' && marker.about !== undefined;

const AT_REST: ReadonlySet<string> = new Set(['prepared', 'served']);

const UNDOABLE: ReadonlySet<string> = new Set(['init', 'join', 'reset']);

/**
 * True for a marker that lets kbuild undo what lies on the host: of an init, join or reset that kubeadm did not end.
 * kbuild never undoes any other action, nor a stage that this version does not know.
 */
export const isUndoable = (marker: Marker | 'absent' | 'unreadable'): marker is Marker =>
  typeof marker === 'object' &&
  UNDOABLE.has(marker.action) &&
  (marker.stage === 'begun' || (marker.stage === 'done' && marker.action === 'reset'));

/**
 * True for a marker of an unfinished action other than kubeadm's init, join and reset: `up` leaves it alone. False for
 * a restore that has only prepared its data, or that has ended.
 */
export const isForeignAction = (marker: Marker | 'absent' | 'unreadable'): boolean =>
  typeof marker === 'object' &&
  !UNDOABLE.has(marker.action) &&
  !(marker.action === RESTORE && AT_REST.has(marker.stage));

/** Settings of kubeadm's ClusterConfiguration, as far as kbuild reads them. Throws on another form. */
function requireForm(cluster: JsonObject): void {
  for (const part of [...['apiServer', 'controllerManager', 'scheduler'].map((key) => [key]), ['etcd', 'local']]) {
    const { extraArgs, extraEnvs, certSANs } = within(cluster, ...part);
    for (const { name } of [...objectsOf(extraArgs), ...objectsOf(extraEnvs)]) textIn(name);
    textsIn(certSANs);
  }
}

/**
 * The settings that kbuild last gave kubeadm. A note that cannot be parsed, or has another form, counts as missing: the
 * facts decide.
 */
export function settingsNote(text: string | undefined): JsonObject | undefined {
  try {
    if (text === undefined) return undefined;
    const note = objectOf(JSON.parse(text));
    for (const part of Object.values(note)) objectOf(part);
    requireForm(within(note, 'cluster'));
    return note;
  } catch {
    return undefined;
  }
}
