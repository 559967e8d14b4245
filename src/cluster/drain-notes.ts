import type { NodeView } from '../facts/cluster.ts';

/** Annotation of a node that kbuild has drained completely. Without it, an interrupted drain continues. */
export const DRAINED = 'kbuild.dev/drained';

/** Annotation of a node that kbuild's drain has cordoned, written together with the cordon: an operator's cordon stays. */
export const CORDONED = 'kbuild.dev/cordoned';

/** Annotation of a node that kbuild has cordoned: the workloads with pods there, `Kind/namespace/name=ready pods`, until they are back. */
export const WORKLOADS = 'kbuild.dev/workloads';

/** The taint of a cordoned node. The controller manager sets and removes it, and no pod is placed while it stands. */
export const CORDON_TAINT = 'node.kubernetes.io/unschedulable';

type Noted = Pick<NodeView, 'annotations'>;

/** True for a node that kbuild has drained, and that does not take pods again yet. */
export const isDrained = ({ annotations }: Noted): boolean => DRAINED in annotations;

/** True for a node that kbuild, and no operator, has cordoned. */
export const isCordonedByKbuild = ({ annotations }: Noted): boolean => CORDONED in annotations;

/** True for a node whose workloads are not all back since kbuild has cordoned it. */
export const isMissed = ({ annotations }: Noted): boolean => WORKLOADS in annotations;

/** True for a node with a note of kbuild's drain, which a run that was cut off may have left. */
export const isNoted = (node: Noted | undefined): boolean =>
  node !== undefined && [DRAINED, CORDONED, WORKLOADS].some((note) => note in node.annotations);
