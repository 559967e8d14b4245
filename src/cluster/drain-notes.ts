import type { NodeView } from '../facts/cluster.ts';

/**
 * Annotation of a node that kbuild has drained completely. Without it, an interrupted drain continues. Its value is the time of the cordon's taint
 * (`cordonedAt`), which names this cordon and no later one; `true` where the taint had no time, and from older versions of kbuild.
 */
export const DRAINED = 'kbuild.dev/drained';

/** Annotation of a node that kbuild's drain has cordoned, written together with the cordon: an operator's cordon stays. */
export const CORDONED = 'kbuild.dev/cordoned';

/** Annotation of a node that kbuild has cordoned: the workloads with pods there, `Kind/namespace/name=ready pods`, until they are back. */
export const WORKLOADS = 'kbuild.dev/workloads';

/** The taint of a cordoned node. The controller manager sets and removes it, and no pod is placed while it stands. */
export const CORDON_TAINT = 'node.kubernetes.io/unschedulable';

type Noted = Pick<NodeView, 'annotations'>;

/** A node with what tells whether its notes are about its present cordon. */
type Cordoned = Pick<NodeView, 'annotations' | 'unschedulable' | 'cordonedAt'>;

/**
 * True for a node that kbuild has drained, and that does not take pods again yet. False once it was uncordoned, though the note is left: pods came
 * back, also if it was cordoned again since.
 */
export function isDrained({ annotations, unschedulable, cordonedAt }: Cordoned): boolean {
  const noted = annotations[DRAINED];
  return unschedulable && noted !== undefined && (noted === 'true' || cordonedAt === '' || noted === cordonedAt);
}

/** True for a node with the notes of a drain whose cordon is no more: an operator uncordoned it, and may have cordoned it again. */
export const hasStaleNotes = (node: Cordoned): boolean => DRAINED in node.annotations && !isDrained(node);

/** True for a node that kbuild, and no operator, has cordoned. */
export const isCordonedByKbuild = (node: Cordoned): boolean => CORDONED in node.annotations && !hasStaleNotes(node);

/** True for a node whose workloads are not all back since kbuild has cordoned it. */
export const isMissed = ({ annotations }: Noted): boolean => WORKLOADS in annotations;

/** True for a node with a note of kbuild's drain, which a run that was cut off may have left. */
export const isNoted = (node: Noted | undefined): boolean =>
  node !== undefined && [DRAINED, CORDONED, WORKLOADS].some((note) => note in node.annotations);
