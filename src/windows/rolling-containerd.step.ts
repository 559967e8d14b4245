import { orWaitForApi, when } from '../engine/combinators.ts';
import { type Drain, registeredNode } from '../engine/drain.ts';
import { drainedByUp, takesPodsAgain } from '../engine/rolling.ts';
import type { Step, Target } from '../engine/step.ts';
import { isChanging, noted, whileNoted } from '../engine/workloads.ts';
import { containerdChanges, containerdReplaced } from './containerd.step.ts';
import { windowsNodeReady, windowsPodsReady } from './ready.step.ts';

const isDue = (target: Target<'windows'>): boolean => containerdChanges(target).length > 0;
const isUnderWay = (target: Target<'windows'>): boolean => isDue(target) || isChanging(target);

/** Without the API kbuild cannot observe whether the node is drained. */
const whileDue = (step: Step<'windows'>): Step<'windows'> => when(isDue, orWaitForApi(step));

/** Notes on the node what the drain is for, so that an interrupted run goes on. */
const changeNoted: Step<'windows'> = {
  name: 'runtime-change-noted',
  diff: (target) => {
    const { name } = target.host;
    if (registeredNode(target) === undefined || isChanging(target)) return [];
    return [{ summary: `note that containerd of ${name} changes`, apply: noted(target, 'containerd') }];
  },
};

const noteRemoved: Step<'windows'> = {
  name: 'runtime-change-done',
  diff: (target) =>
    registeredNode(target) === undefined
      ? []
      : [{ summary: `remove the note that containerd of ${target.host.name} changes`, apply: noted(target, null) }],
};

/**
 * Changes the containerd of one joined Windows host: drains its node, removes the pods that are left, replaces the
 * program as a whole, and lets the node take pods again. A shim that runs is containerd's own program: in place both
 * versions would be mixed.
 */
export const rollingContainerd = (drain: Drain): readonly Step<'windows'>[] => [
  whileDue(changeNoted),
  whileDue(drainedByUp(drain)),
  ...containerdReplaced.map((step) => whileNoted<'windows'>(isUnderWay, step)),
  ...[windowsNodeReady, windowsPodsReady].map((gate) => whileNoted<'windows'>(isChanging, gate)),
  ...[...takesPodsAgain<'windows'>(isDue), noteRemoved].map((step) => whileNoted<'windows'>(isUnderWay, step)),
];
