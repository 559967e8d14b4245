import { acting } from '../cluster/acting.ts';
import { standing } from '../cluster/standing.ts';
import { kubectl } from '../configuration/kubectl.ts';
import type { Step, Target } from '../engine/step.ts';
import type { On } from '../remote/remote.ts';
import { sh } from '../shell/sh.ts';
import { registeredNode, type AnyTarget } from './drain.ts';
import { whenApiAnswers } from './wait-for-api.ts';

/**
 * Annotation of a node whose runtime `up` changes while the node is drained. It tells such a drain from that of an upgrade or a
 * removal, so that an interrupted run goes on, and nothing else is undone.
 */
export const CHANGING = 'kbuild.dev/runtime-change';

/** True while the host's node has the note. */
export const isChanging = (target: AnyTarget): boolean => CHANGING in (registeredNode(target)?.annotations ?? {});

/**
 * A step that has its turn while `isDue`, which reads the note. While the API does not answer, the note of a joined host is unknown: the step waits.
 * Otherwise a look that a busy API leaves unanswered would pass for "nothing to do", and the node would stay cordoned or take pods before it is well.
 */
export const whileNoted = <K extends 'linux' | 'windows'>(
  isDue: (target: Target<K>) => boolean,
  step: Step<K>,
): Step<K> => {
  const waiting = whenApiAnswers(step);
  return {
    ...waiting,
    diff: (target) => {
      const isUnknown = target.fleet.cluster.state === 'down' && standing(target) === 'joined';
      return isUnknown || isDue(target) ? waiting.diff(target) : [];
    },
  };
};

/** Sets the note on the host's node, or removes it. */
export const noted =
  ({ inventory, host, fleet }: AnyTarget, value: string | null) =>
  async (on: On): Promise<void> => {
    const control = acting(fleet);
    const patch = JSON.stringify({ metadata: { annotations: { [CHANGING]: value } } });
    await on(control).run(sh`${kubectl(inventory, control)} patch node ${host.name} --type merge -p ${patch}`);
  };
