import { backInBalancers, outOfBalancers } from '../balancer/servers.step.ts';
import type { Fleet, Kind } from '../cluster/fleet/fleet.ts';
import { when } from '../engine/combinators.ts';
import type { Phase, Step } from '../engine/step.ts';
import { onlyHosts } from '../engine/target.ts';
import { jobEnded } from '../host/idle.step.ts';
import { controlPlanes, etcdHosts, kubernetesHosts } from '../inventory/hosts.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { spreadAfterDrains } from '../kubeadm/coredns.step.ts';
import { controlPlaneServes } from '../kubeadm/join.step.ts';
import { kubeadmPatches } from '../kubeadm/patches.step.ts';
import { nodeReady } from '../kubeadm/ready.step.ts';
import { noMarker } from '../kubeadm/register-node.step.ts';
import { networkReady } from '../network/ready.step.ts';
import { runtimeSteps } from '../runtime/runtimes.step.ts';
import { addonsUpgraded } from '../upgrade/addons.step.ts';
import { upgradeTakenBack } from '../upgrade/begun.ts';
import {
  apiAnswers,
  componentsSettled,
  controlPlaneUpgraded,
  etcdMinimum,
  hasOldEtcd,
  type KeepBefore,
  manifestsBack,
} from '../upgrade/control-plane.step.ts';
import { controlPlanesReady } from '../upgrade/control-planes-ready.step.ts';
import { builtEtcdMinimum, builtEtcdUpgraded, etcdKubeletUpgraded } from '../upgrade/etcd.step.ts';
import { fetched, hopRepositories, lastRepository, nothingFetched } from '../upgrade/fetch.step.ts';
import { atHop, etcdBefore, type Hop } from '../upgrade/hop.ts';
import { rulesOfKubeadm } from '../upgrade/kubeadm-rules.step.ts';
import { kubeadmPackage, type NodeOptions, nodeSteps, onceOnly, whileBehind } from '../upgrade/node.step.ts';
import { isBehind } from '../upgrade/versions.ts';
import { addonsPhase } from '../upgrade/whole-cluster.ts';
import { windowsFetchPhase, windowsSettlePhase, windowsWorkerPhases } from '../upgrade/windows.phases.ts';
import { minorOf } from '../versions.ts';
import { workerPhases } from './upgrade-workers.phases.ts';
import { verifyPhases } from './verify.phases.ts';

/** How an upgrade goes. */
export interface UpgradeOptions extends NodeOptions {
  /** From the running version to the desired one, in order. */
  readonly hops: readonly Hop[];
  /** Saves etcd's data and /etc/kubernetes before a control plane changes. */
  readonly keep: KeepBefore;
  /** How many Windows workers may be away at once; default: as many as Linux workers. */
  readonly windowsAtOnce?: number;
}

/** Puts back what a killed kubeadm has moved away: without it the API may be down, and nothing else can be planned. */
export const repairPhases = (inventory: Inventory): readonly Phase[] => [
  {
    name: 'repair',
    title: 'Put back manifests of an upgrade that was cut off',
    kind: 'linux',
    hosts: controlPlanes(inventory),
    steps: [jobEnded, manifestsBack, apiAnswers],
    concurrency: 1,
  },
];

/** Everything that the hops need is on every host before anything restarts. */
function fetchPhase(inventory: Inventory, hops: readonly Hop[]): Phase {
  const last = hops.at(-1)!;
  return {
    name: 'fetch',
    title: 'Download packages and images',
    kind: 'linux',
    hosts: kubernetesHosts(inventory),
    steps: [jobEnded, ...hopRepositories(hops), ...hops.map((hop) => fetched(hop, last))],
  };
}

/** The steps for an inventory that names the version of the hop. */
const at = <K extends Kind>(hop: Hop, steps: readonly Step<K>[]): readonly Step<K>[] =>
  steps.map((step) => atHop(hop, step));

/** The hops before one. */
const earlierThan = (hop: Hop, { hops }: UpgradeOptions): readonly Hop[] =>
  hops.slice(0, Math.max(0, hops.indexOf(hop)));

/** A step that has its turn only before the member of the host is brought to the patch that the hop needs. */
const whileOldEtcd = (hop: Hop, step: Step): Step => when((target) => hasOldEtcd(target, hop), step);

/** Etcd before the control planes: to the patch that the hop needs; where kbuild built it on hosts of its own, to its new minor. */
function etcdPhases(inventory: Inventory, hop: Hop, options: UpgradeOptions): readonly Phase[] {
  const minor = minorOf(hop.version);
  const needsMinimum = etcdBefore(hop) !== undefined;
  const running: Hop = { version: hop.from ?? hop.version };
  const serial = { kind: 'linux', concurrency: 1, needs: 'whole-control-plane' } as const;
  const title = `Prepare etcd for Kubernetes ${hop.version}`;
  return [
    {
      name: `etcd-minimum-${minor}`,
      title,
      ...serial,
      hosts: needsMinimum ? etcdHosts(inventory) : [],
      conditionOf: `etcd-members-${minor}`,
      steps: at(running, [jobEnded, builtEtcdMinimum(hop, options.keep)]),
    },
    {
      name: `etcd-members-${minor}`,
      title: `Upgrade etcd for Kubernetes ${hop.version}`,
      ...serial,
      hosts: etcdHosts(inventory),
      steps: at(hop, [
        jobEnded,
        kubeadmPackage(hop),
        builtEtcdUpgraded(hop, options.keep),
        ...runtimeSteps(inventory).map((step) => whileBehind(hop, onceOnly(earlierThan(hop, options), step))),
        etcdKubeletUpgraded(hop),
      ]),
    },
    {
      name: `etcd-${minor}`,
      title,
      ...serial,
      hosts: needsMinimum && inventory.etcd.topology === 'stacked' ? controlPlanes(inventory) : [],
      conditionOf: `control-plane-${minor}`,
      steps: at(running, [
        ...[jobEnded, manifestsBack, upgradeTakenBack(options.hops), controlPlaneServes],
        // A host whose member stays as it is waits for no other one: the upgrade of that one may be what mends it.
        whileOldEtcd(hop, controlPlanesReady(hop)),
        outOfBalancers((target) => hasOldEtcd(target, hop)),
        etcdMinimum(hop),
        backInBalancers((target) => hasOldEtcd(target, hop)),
      ]),
    },
  ];
}

/** One hop of the control plane: etcd first, then one host after another, then the addons. */
function hopPhases(inventory: Inventory, hop: Hop, options: UpgradeOptions): readonly Phase[] {
  const hosts = controlPlanes(inventory);
  const minor = minorOf(hop.version);
  const earlier = earlierThan(hop, options);
  return [
    ...etcdPhases(inventory, hop, options),
    {
      name: `control-plane-${minor}`,
      title: `Upgrade control planes to ${hop.version}`,
      kind: 'linux',
      needs: 'whole-control-plane',
      hosts,
      steps: at(hop, [
        jobEnded,
        noMarker,
        manifestsBack,
        upgradeTakenBack(options.hops),
        controlPlaneServes,
        controlPlanesReady(hop),
        kubeadmPatches,
        kubeadmPackage(hop),
        // Out until the newer kubelet, too, has started the API server anew.
        outOfBalancers((target) => isBehind(target, hop)),
        controlPlaneUpgraded(hop, options.keep),
        ...nodeSteps(hop, options, {
          whileDrained: runtimeSteps(inventory).map((step) => onceOnly(earlier, step)),
          gates: [nodeReady, networkReady, componentsSettled(hop), backInBalancers((target) => isBehind(target, hop))],
        }),
      ]),
      concurrency: 1,
    },
    {
      name: addonsPhase(hop),
      title: `Upgrade addons to ${hop.version}`,
      kind: 'cluster',
      needs: 'whole-control-plane',
      hosts,
      steps: at(hop, [rulesOfKubeadm(hop), addonsUpgraded(hop)]),
    },
  ];
}

/** Windows workers come after all Linux workers. */
const workersOfBoth = (inventory: Inventory, fleet: Fleet, hop: Hop, options: UpgradeOptions): readonly Phase[] => [
  ...workerPhases(inventory, fleet, hop, options),
  ...windowsWorkerPhases(inventory, fleet, hop, { ...options, atOnce: options.windowsAtOnce ?? options.atOnce }),
];

/** Leaves what `up` would: the repository of the running version, and nothing that only the upgrade needed. */
const settlePhase = (inventory: Inventory, hops: readonly Hop[]): Phase => ({
  name: 'settle',
  title: 'Remove what only the upgrade needed',
  kind: 'linux',
  hosts: kubernetesHosts(inventory),
  steps: [...lastRepository(hops), nothingFetched(hops)],
});

/**
 * The phases that verify the cluster. The drains may leave all pods of CoreDNS on one node: that `up` would spread them, and so this
 * run does, stands in the plan.
 */
const verifiedPhases = (inventory: Inventory, { cluster }: Fleet, hops: readonly Hop[]): readonly Phase[] => {
  const isNode = ({ name }: Host): boolean =>
    cluster.state !== 'up' || cluster.nodes.some((node) => node.name === name);
  // A host that has not joined yet is the work of `up`.
  return spreadAfterDrains(onlyHosts(verifyPhases(inventory), isNode), (target) =>
    hops.some((hop) => isBehind(target, hop)),
  );
};

/**
 * What `kbuild upgrade` does, in order: downloads, then hop by hop the control plane, then the workers once, then what is left.
 * Each piece is pending only while something older runs, so the same command finishes what was cut off.
 */
export function upgrade(inventory: Inventory, fleet: Fleet, options: UpgradeOptions): readonly Phase[] {
  const last = options.hops.at(-1);
  const phases: readonly Phase[] = [
    ...repairPhases(inventory),
    ...(last === undefined ? [] : [fetchPhase(inventory, options.hops), windowsFetchPhase(inventory, last)]),
    ...options.hops.flatMap((hop) => hopPhases(inventory, hop, options)),
    ...(last === undefined ? [] : workersOfBoth(inventory, fleet, { version: last.version }, options)),
    settlePhase(inventory, options.hops),
    ...(last === undefined ? [] : [windowsSettlePhase(inventory, last)]),
    ...verifiedPhases(inventory, fleet, options.hops),
  ];
  return phases.filter(({ hosts }) => hosts.length > 0);
}
