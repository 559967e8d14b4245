import { acting } from '../cluster/acting.ts';
import { deleteTokens } from '../configuration/join-token.ts';
import type { Step } from '../engine/step.ts';
import type { Fleet } from '../facts/fleet.ts';

/** True if a host may be joining with the token of an interrupted run, whose job goes on: on this host, or one not observed. */
const mayJoin = ({ hosts, unreachable }: Fleet): boolean =>
  unreachable.length > 0 || hosts.some(({ facts }) => facts.runningJob !== 'none');

/**
 * Deletes the bootstrap tokens of interrupted runs. kubeadm needs a token until the kubelet of the new node has a certificate,
 * so kbuild leaves a token that may still be in use: it expires by itself.
 */
export const noLeftoverTokens: Step<'cluster'> = {
  name: 'no-leftover-tokens',
  diff: ({ inventory, facts, fleet }) => {
    if (facts.state !== 'up') return [];
    const ids = facts.leftoverTokens;
    if (ids.length === 0 || mayJoin(fleet)) return [];
    return [
      {
        summary: `delete ${String(ids.length)} bootstrap token${ids.length === 1 ? '' : 's'} of an interrupted run (found ${ids.join(', ')})`,
        apply: (on) => deleteTokens(on(acting(fleet)), inventory, ids),
      },
    ];
  },
};
