import { acting } from '../cluster/acting.ts';
import { deleteTokens } from '../configuration/join-token.ts';
import type { Step } from '../engine/step.ts';
import type { Fleet } from '../facts/fleet.ts';

/** True when somebody may be joining with a token of an interrupted run: its job goes on, also where we cannot look. */
const mayJoin = ({ hosts, unreachable }: Fleet): boolean =>
  unreachable.length > 0 || hosts.some(({ facts }) => facts.runningJob !== 'none');

/**
 * No bootstrap token that an interrupted run minted. kubeadm needs its token until the kubelet of the new node has a
 * certificate, and that of a control plane waits for etcd before: what may still be used is left, and expires by itself.
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
