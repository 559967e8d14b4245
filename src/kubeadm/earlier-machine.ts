import { nodeOfEarlierMachine } from '../cluster/lives-elsewhere.ts';
import { standing } from '../cluster/standing.ts';
import type { Step } from '../engine/step.ts';

/** Twice the 40 s to 50 s for which a node stays Ready after its kubelet's last report. */
const SETTLE_MS = 120_000;

/**
 * Waits until no Ready node of another machine has the host's name and address. After a reinstallation the old node stays
 * Ready for a while. If it stays Ready longer, another machine has the same address, and kbuild does not delete its node.
 */
export const earlierMachineGone: Step = {
  name: 'earlier-machine-gone',
  settleMs: SETTLE_MS,
  diff: (target) => {
    if (standing(target) === 'joined') return [];
    const found = nodeOfEarlierMachine(target, target.fleet);
    return found === undefined ? [] : [{ summary: `wait until the earlier machine's node is not Ready (${found})` }];
  },
};
