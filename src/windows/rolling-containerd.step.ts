import { registeredNode } from '../engine/drain.ts';
import { isChanging, noteForgotten, noteWritten, runtimeChangeNote, whileNoted } from '../engine/note.ts';
import { drainedByUp, type NodeChange } from '../engine/rolling.ts';
import type { Target } from '../engine/step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { containerdChanges, containerdReplaced } from './containerd.step.ts';
import { windowsNodeReady, windowsPodsReady } from './ready.step.ts';

const isDue = (target: Target<'windows'>): boolean => containerdChanges(target).length > 0;
const isUnderWay = (target: Target<'windows'>): boolean => isDue(target) || isChanging(target);

const changeNoted = noteWritten<'windows'>('runtime-change-noted', runtimeChangeNote, (target) =>
  registeredNode(target) === undefined
    ? undefined
    : { summary: `note that containerd of ${target.host.name} changes`, text: 'containerd' },
);

const changeDone = noteForgotten<'windows'>('runtime-change-done', runtimeChangeNote, {
  summary: ({ host }) => `remove the note that containerd of ${host.name} changes`,
  willStand: (target) => registeredNode(target) !== undefined && isDue(target),
});

/**
 * What changes the containerd of a joined Windows host: the pods that the drain leaves are removed, and the program is
 * replaced as a whole. A shim that runs is containerd's own program: in place both versions would be mixed.
 */
export const containerdRoll: NodeChange<'windows'> = {
  isDue,
  before: [jobEnded],
  note: { written: changeNoted, forgotten: changeDone, isOurs: isUnderWay },
  drain: drainedByUp,
  whileDrained: containerdReplaced.map((step) => whileNoted<'windows'>(isUnderWay, step)),
  gates: [windowsNodeReady, windowsPodsReady].map((gate) => whileNoted<'windows'>(isChanging, gate)),
};
