import { refuseMixed } from '../cluster/api-versions.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { standing } from '../cluster/standing.ts';
import { waitForApi } from '../engine/combinators.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { same } from '../inventory/merge.ts';
import { applySettings } from '../kubeadm/apply-settings.ts';
import { ofCluster, textsIn, within } from '../shell/decode.ts';

/** The endpoints that the cluster's stored configuration names. */
const stored = (cluster: ClusterUp): readonly string[] =>
  ofCluster(cluster, 'ClusterConfiguration', () =>
    textsIn(within(cluster.configuration, 'etcd', 'external')['endpoints']),
  );

const hostOf = (url: string): string => url.replace(/^https:\/\/|:\d+$/g, '');

/**
 * @throws Refused if the API servers' endpoints and the inventory's have none in common: the inventory names another
 * etcd
 */
function refuseAnother({ inventory }: Target, wanted: readonly string[], found: readonly string[]): void {
  if (found.length === 0 || found.some((url) => wanted.includes(url))) return;
  throw new Refused(
    'other-etcd',
    inventory.name,
    `its API servers use etcd at ${found.join(', ')}, and the inventory names other endpoints (${wanted.join(', ')})`,
    'a cluster cannot be put onto another etcd; members are replaced one by one, so that one endpoint always stays',
  );
}

/**
 * Points a joined control plane's API server to the inventory's etcd endpoints when members were added or removed, and
 * updates the stored configuration for control planes that join later. One API server restarts at a time.
 */
export const etcdEndpoints: Step = {
  name: 'etcd-endpoints',
  needs: 'whole-control-plane',
  settleMs: 60_000,
  diff: (target) => {
    const { inventory, host, facts, fleet } = target;
    const { etcd } = inventory;
    const { cluster } = fleet;
    if (etcd.topology === 'stacked' || standing(target) !== 'joined' || cluster.state === 'absent') return [];
    if (cluster.state === 'down') return [waitForApi(cluster)];
    const found = facts.etcdServers === 'absent' ? etcd.endpoints : facts.etcdServers;
    refuseAnother(target, etcd.endpoints, found);
    const isOld = !same([...found].sort(), [...etcd.endpoints].sort());
    const isNoted = same([...stored(cluster)].sort(), [...etcd.endpoints].sort());
    if (!isOld && (isNoted || cluster.via !== host.name)) return [];
    refuseMixed(inventory.name, cluster, 'a change of the endpoints of etcd');
    const parts = [cluster.via === host.name && !isNoted ? ('cluster' as const) : ('manifests' as const)];
    return [
      {
        summary: `point the API server of ${host.name} to etcd at ${etcd.endpoints.map(hostOf).join(', ')} (found ${(isOld ? found : stored(cluster)).map(hostOf).join(', ')})`,
        disrupts: isOld,
        ...(isOld ? { restarts: [{ what: 'API server', hosts: [host.name], aboutMs: ABOUT_MS.apiServer }] } : {}),
        apply: (on) => applySettings(on, inventory, host, { job: 'etcd-endpoints', parts }),
      },
    ];
  },
};
