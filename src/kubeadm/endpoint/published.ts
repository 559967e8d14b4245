import { serverAt } from '../../cluster/endpoint-move.ts';
import type { Step } from '../../engine/step.ts';
import type { ClusterUp } from '../../facts/cluster.ts';
import type { Inventory } from '../../model/inventory.ts';
import { waitForApi } from '../../resources/wait-for-api.ts';
import { CLUSTER_INFO } from '../authority/published.ts';
import { patchObject, serverIn, textIn, withServer } from './config-map.ts';
import { refuseUnproved } from './proved.ts';

const KEY = 'kubeconfig';

/** The server that joining hosts are told, if it is not the inventory's endpoint; undefined if it is, or if they are told none. */
export function announcedAstray(inventory: Inventory, cluster: ClusterUp): string | undefined {
  const found = serverIn(cluster, CLUSTER_INFO, KEY);
  return found === serverAt(inventory.endpoint) ? undefined : found;
}

/** Tells the endpoint to joining hosts: cluster-info, which kubeadm's join reads. The controller manager signs it again. */
export const endpointPublished: Step<'cluster'> = {
  name: 'endpoint-published',
  diff: (target) => {
    const { inventory, facts } = target;
    if (facts.state === 'absent') return [];
    if (facts.state === 'down') return [waitForApi(facts)];
    const found = announcedAstray(inventory, facts);
    if (found === undefined) return [];
    const server = serverAt(inventory.endpoint);
    return [
      {
        summary: `lead hosts that join ${inventory.name} to ${server} (found ${found} in cluster-info)`,
        apply: async (on) => {
          refuseUnproved(target);
          const kubeconfig = withServer(textIn(facts, CLUSTER_INFO, KEY)!, server);
          await patchObject(target, CLUSTER_INFO, { data: { [KEY]: kubeconfig } }, on);
        },
      },
    ];
  },
};
