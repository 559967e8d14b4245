import { acting } from '../cluster/acting.ts';
import { deleteTokens } from '../cluster/join-token.ts';
import type { Step } from '../engine/step.ts';

/** No bootstrap token that an interrupted run minted. Nobody joins while this is looked at. */
export const noLeftoverTokens: Step<'cluster'> = {
  name: 'no-leftover-tokens',
  diff: ({ inventory, facts, fleet }) => {
    if (facts.state !== 'up') return [];
    const ids = facts.leftoverTokens;
    if (ids.length === 0) return [];
    return [
      {
        summary: `delete ${String(ids.length)} bootstrap token${ids.length === 1 ? '' : 's'} of an interrupted run (found ${ids.join(', ')})`,
        apply: (on) => deleteTokens(on(acting(fleet)), inventory, ids),
      },
    ];
  },
};
