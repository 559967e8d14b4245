import { balancerPackages, balancerSteps, endpointServes } from '../balancer/balancer.phases.ts';
import { formerBinds, haproxy } from '../balancer/haproxy.step.ts';
import { keepalived } from '../balancer/keepalived.step.ts';
import { kubeVip } from '../balancer/kube-vip.step.ts';
import { balancerTools } from '../balancer/servers.step.ts';
import { apiServerNamesAdded } from '../certificates/renew.step.ts';
import { type Fleet, observedLinux } from '../cluster/fleet/fleet.ts';
import type { SeenLive } from '../cluster/live.ts';
import { reason, type Reason } from '../cluster/reasons.ts';
import { standing } from '../cluster/standing.ts';
import { cluster, ifAny, IN_TURN, linux, VERIFIES } from '../engine/phases.ts';
import type { Phase, Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { firewallOpen } from '../host/firewall.step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { bothEndpointNames, hostsFile, takenNames } from '../host/names.step.ts';
import { prepareBalancer } from '../host/prepare.phases.ts';
import { endpointHost } from '../inventory/addresses.ts';
import { atOnceOf, balancers, controlPlanes } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { endpointProved, kubeProxyLed } from '../kubeadm/endpoint-objects.step.ts';
import { endpointNoted, endpointPublished } from '../kubeadm/endpoint.step.ts';
import { isMoving, liveEndpoint } from '../kubeadm/endpoint.ts';
import { kubeconfigsLed } from '../kubeadm/kubeconfigs.step.ts';
import { kubeletProxy, kubeletService } from '../kubeadm/packages.step.ts';
import { nodeReady } from '../kubeadm/ready.step.ts';
import { networkSteps } from '../network/plugins.step.ts';
import { paths } from '../paths.ts';

/**
 * The hosts of a move by what they do in it. A host that has yet to join takes no part: it joins at the new endpoint.
 */
interface Movers {
  readonly controls: readonly LinuxHost[];
  readonly workers: readonly LinuxHost[];
  /** Where kbuild builds the balancer of the new endpoint. */
  readonly balancers: readonly LinuxHost[];
  /** All that find the endpoint by name. */
  readonly all: readonly LinuxHost[];
}

function moversOf(inventory: Inventory, fleet: Fleet): Movers {
  const all = observedLinux(fleet)
    .filter(
      ({ host, facts }) => host.role === 'load-balancer' || standing({ inventory, host, facts, fleet }) === 'joined',
    )
    .map(({ host }) => host);
  const isBalancer = new Set(balancers(inventory).map(({ name }) => name));
  return {
    all,
    controls: all.filter(({ role }) => role === 'control-plane'),
    workers: all.filter(({ role }) => role === 'worker'),
    balancers: all.filter(({ name }) => isBalancer.has(name)),
  };
}

/** The new endpoint stands and serves this cluster to every host. Nothing uses it yet. */
function standPhases(inventory: Inventory, { all, controls, workers, balancers: builders }: Movers): readonly Phase[] {
  const apart = builders.filter(({ role }) => role === 'load-balancer');
  return [
    linux('prepare-balancers', 'Prepare load balancers', apart, [jobEnded, ...prepareBalancer]),
    linux('balancer-packages', 'Install load balancers', builders, [
      ...[jobEnded, firewallOpen],
      ...[balancerPackages, balancerTools],
    ]),
    linux(
      'load-balancer',
      'Configure load balancers',
      builders,
      balancerSteps,
      inventory.loadBalancer.kind === 'local' ? {} : IN_TURN,
    ),
    linux(
      'kube-vip',
      'Run kube-vip on control planes',
      inventory.loadBalancer.kind === 'kube-vip' ? controls : [],
      [kubeVip],
      IN_TURN,
    ),
    linux(
      'api-server-names',
      'Name the new endpoint in certificates',
      controls,
      [jobEnded, apiServerNamesAdded],
      IN_TURN,
    ),
    linux('endpoint-names', 'Know both endpoints by name', all, [bothEndpointNames]),
    linux(
      'endpoint-proxy',
      'Reach the new endpoint without the proxy',
      inventory.proxy === undefined ? [] : workers,
      [kubeletProxy, kubeletService],
      { concurrency: atOnceOf(inventory, workers) },
    ),
    linux('endpoint-proved', 'Prove the new endpoint', [...controls, ...workers], [endpointProved]),
  ];
}

/** Everything is led there, and noted last. The old endpoint serves all the time. */
function leadPhases(inventory: Inventory, { all, controls, workers }: Movers): readonly Phase[] {
  return [
    linux('admin-kubeconfigs', 'Lead kubeconfigs of control planes', controls, [kubeconfigsLed], IN_TURN),
    cluster('cluster-info', 'Lead hosts that join', controls, [endpointPublished]),
    cluster('kube-proxy', 'Lead kube-proxy', controls, [kubeProxyLed(inventory)]),
    cluster('network', 'Lead the pod network', controls, networkSteps(inventory)),
    linux('kubelets', 'Lead kubelets', workers, [jobEnded, kubeconfigsLed], {
      concurrency: atOnceOf(inventory, workers),
    }),
    linux('nodes', 'Verify nodes', [...controls, ...workers], [nodeReady]),
    cluster('kubeadm-config', 'Note the endpoint', controls, [endpointNoted]),
    linux('hosts-file', 'Know the endpoint by name', all, [hostsFile]),
    cluster('settled', 'Verify the endpoint', controls, [endpointServes], VERIFIES),
  ];
}

/**
 * What `kbuild move-endpoint` does, in order: the new endpoint stands, is in the API servers' certificates and serves
 * this cluster to every host; then kubeconfigs, what joining hosts are told, kube-proxy and the workers' kubelets are
 * led there, and kubeadm's configuration notes it last. What served the old endpoint stays. Throws `FactError` when a
 * fact that it needs is unknown.
 */
export function moveEndpointPhases(inventory: Inventory, fleet: Fleet): readonly Phase[] {
  const movers = moversOf(inventory, fleet);
  return ifAny(...standPhases(inventory, movers), ...leadPhases(inventory, movers));
}

/**
 * Files of kbuild's load balancers, and the steps that write them. `keeps`: the new file serves the old endpoint, too.
 */
const BALANCER_FILES: readonly {
  readonly path: string;
  readonly step: Step;
  readonly keeps?: (target: Target) => boolean;
}[] = [
  { path: paths.haproxyConfig, step: haproxy[0]!, keeps: (target) => formerBinds(target).length > 0 },
  { path: paths.keepalivedConfig, step: keepalived[1]! },
];

/**
 * Balancers of kbuild that serve the old endpoint, and that the new one would take: they have one address and one port.
 */
function balancersInUse(inventory: Inventory, fleet: Fleet, old: string): readonly string[] {
  const isOwn = controlPlanes(inventory).some(({ address, internalAddress }) =>
    [address, internalAddress].includes(endpointHost(old)),
  );
  if (isOwn) return [];
  const builders = new Set(moversOf(inventory, fleet).balancers.map(({ name }) => name));
  return observedLinux(fleet).flatMap(({ host, facts }) => {
    const target = { inventory, host, facts, fleet };
    const isTaken =
      (builders.has(host.name) &&
        BALANCER_FILES.some(
          ({ path, step, keeps }) =>
            facts.ownFiles.includes(path) && step.diff(target).length > 0 && keeps?.(target) !== true,
        )) ||
      (inventory.loadBalancer.kind === 'kube-vip' &&
        facts.ownFiles.includes(paths.kubeVipManifest) &&
        kubeVip.diff(target).length > 0);
    return isTaken ? [host.name] : [];
  });
}

/** Why the move would take the old endpoint away before its time. */
export const oldEndpointReasons: readonly Reason<SeenLive>[] = [
  reason(['balancer-in-use'], ({ inventory, fleet, cluster }) => {
    const old = liveEndpoint(cluster);
    const inUse = isMoving(inventory, cluster) ? balancersInUse(inventory, fleet, old) : [];
    if (inUse.length === 0) return undefined;
    return new Refused(
      'balancer-in-use',
      inUse.join(', '),
      `kbuild's load balancer serves the old endpoint ${old} here, and would serve ${inventory.endpoint} alone ` +
        'from the beginning of the move',
      'build the load balancer of the new endpoint on other hosts of role load-balancer, or lead the cluster to ' +
        'a load balancer of your own',
    );
  }),
  reason(['host-name-taken'], ({ inventory, fleet, cluster }) => {
    const renamed = observedLinux(fleet).filter(({ facts }) => takenNames({ inventory, facts }).length > 0);
    if (!isMoving(inventory, cluster) || renamed.length === 0) return undefined;
    return new Refused(
      'host-name-taken',
      renamed.map(({ host }) => host.name).join(', '),
      `/etc/hosts leads the old endpoint ${liveEndpoint(cluster)} to another address ` +
        `(${takenNames({ inventory, facts: renamed[0]!.facts }).join(', ')}): both cannot have one name`,
      'give the new endpoint another name, or only its address',
    );
  }),
];
