import { objectOf, textIn } from '../shell/decode.ts';

/** What kbuild wrote before it let kubeadm change the host. It only explains; facts decide. */
export interface Marker {
  readonly cluster: string;
  /** `init`, `join`, `reset`, or what another version of kbuild calls its action. */
  readonly action: string;
  readonly job: string;
  /**
   * How far the action got: `begun`; `done` as soon as kubeadm has succeeded; actions of their own may have more
   * stages.
   */
  readonly stage: string;
  /** What the action was about, if it notes that: the ID of a restore, the version of an upgrade. */
  readonly about?: string | undefined;
  /** Which command carries it out, if it notes that: kubeadm's `apply` or `node` for an upgrade. */
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

/**
 * The action of a marker on a host whose etcd is being restored, and the stages in which nothing of it is under way.
 */
export const RESTORE = 'restore';
/** The action of a marker on a host whose upgrade kubeadm did not end. It explains, and never undoes. */
export const UPGRADE = 'upgrade';

/**
 * The end of `about` of a restore that makes no snapshot but the member's own data the cluster: `kbuild etcd recover`.
 */
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
 * Any other action, or a stage that this version does not know, explains and never undoes.
 */
export const isUndoable = (marker: Marker | 'absent' | 'unreadable'): marker is Marker =>
  typeof marker === 'object' &&
  UNDOABLE.has(marker.action) &&
  (marker.stage === 'begun' || (marker.stage === 'done' && marker.action === 'reset'));

/**
 * True for a marker of an unfinished action that is none of kubeadm's init, join and reset: `up` leaves it alone. Not
 * of a restore that has only prepared its data, or that has ended.
 */
export const isForeignAction = (marker: Marker | 'absent' | 'unreadable'): boolean =>
  typeof marker === 'object' &&
  !UNDOABLE.has(marker.action) &&
  !(marker.action === RESTORE && AT_REST.has(marker.stage));
