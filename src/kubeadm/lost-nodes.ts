import type { Manifest } from '../backup/manifest.ts';
import { acting } from '../cluster/acting.ts';
import { lostNodes } from '../cluster/lost.ts';
import { kubectl } from '../configuration/kubectl.ts';
import type { Step } from '../engine/step.ts';
import { sh } from '../shell/sh.ts';

/** Deletes the nodes of control planes that are lost, which a backup has brought back. Their hosts are empty, or not named. */
export const lostNodesDeleted = (manifest: Manifest): Step<'cluster'> => ({
  name: 'lost-nodes',
  settleMs: 60_000,
  diff: ({ inventory, fleet }) => {
    const lost = lostNodes(inventory, fleet, manifest);
    if (lost.length === 0) return [];
    return [
      {
        summary: `delete the node${lost.length === 1 ? '' : 's'} ${lost.join(', ')} of lost control planes`,
        apply: async (on) => {
          const control = acting(fleet);
          await on(control).run(sh`${kubectl(inventory, control)} delete node --ignore-not-found --wait=false ${lost}`);
        },
      },
    ];
  },
});
