import { nodeOfEarlierMachine } from '../cluster/lives-elsewhere.ts';
import { standing } from '../cluster/standing.ts';
import type { Step } from '../engine/step.ts';

/** A node counts as Ready for 40 s to 50 s after its kubelet's last report; twice that. */
const SETTLE_MS = 120_000;

/**
 * The host's name and address belong to no Ready node of another machine. After an installation from scratch the old node counts
 * as Ready for a while; if it never stops, another machine has the same address, and its node is not deleted.
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
