import { lostNodes } from '../backup/lost-cluster.ts';
import type { Manifest } from '../backup/manifest.ts';
import type { Fleet } from '../cluster/fleet/fleet.ts';
import { acting } from '../cluster/live.ts';
import type { Step } from '../engine/step.ts';
import { kubectl } from '../inventory/api-server.ts';
import { sh } from '../shell/sh.ts';
import { deleteTokens } from './worker-join.ts';

/**
 * True if a host may be joining with the token of an interrupted run, whose job goes on: on this host, or one not
 * observed.
 */
const mayJoin = ({ hosts, unreachable }: Fleet): boolean =>
  unreachable.length > 0 || hosts.some(({ facts }) => facts.runningJob !== 'none');

/**
 * Deletes the bootstrap tokens of interrupted runs. kubeadm needs a token until the kubelet of the new node has a
 * certificate, so kbuild leaves a token that may still be in use: it expires by itself.
 */
export const noLeftoverTokens: Step<'cluster'> = {
  name: 'no-leftover-tokens',
  diff: ({ inventory, facts, fleet }) => {
    if (facts.state !== 'up') return [];
    const ids = facts.leftoverTokens;
    if (ids.length === 0 || mayJoin(fleet)) return [];
    return [
      {
        summary:
          `delete ${String(ids.length)} bootstrap token${ids.length === 1 ? '' : 's'} of an interrupted run ` +
          `(found ${ids.join(', ')})`,
        apply: (on) => deleteTokens(on(acting(fleet)), inventory, ids),
      },
    ];
  },
};

/**
 * Deletes the nodes of control planes that are lost, which a backup has brought back. Their hosts are empty, or not
 * named.
 */
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
