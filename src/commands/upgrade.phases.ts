import { backInBalancers, outOfBalancers } from '../balancer/servers.step.ts';
import type { Fleet, Kind } from '../cluster/fleet/fleet.ts';
import { isNoted } from '../cluster/nodes.ts';
import { when } from '../engine/combinators.ts';
import { type AnyTarget, registeredNode } from '../engine/drain.ts';
import { cluster, ifAny, IN_TURN, linux, onlyHosts, WHOLE, WHOLE_IN_TURN } from '../engine/phases.ts';
import { inBatches, inTurn, type NodeChange, rolling, type RollOptions } from '../engine/rolling.ts';
import type { Phase, Step } from '../engine/step.ts';
import { jobEnded } from '../host/idle.step.ts';
import { controlPlanes, etcdHosts, kubernetesHosts, linuxWorkers } from '../inventory/hosts.ts';
import type { Host, Inventory, LinuxHost } from '../inventory/inventory.ts';
import { kubeadmPatches } from '../kubeadm/control-plane-files.step.ts';
import { spreadAfterDrains } from '../kubeadm/coredns.step.ts';
import { controlPlaneServes } from '../kubeadm/join.step.ts';
import { nodeReady } from '../kubeadm/ready.step.ts';
import { noMarker } from '../kubeadm/register-node.step.ts';
import { networkReady } from '../network/ready.step.ts';
import { runtimeSteps } from '../runtime/runtimes.step.ts';
import { addonsPhase, upgradeTakenBack } from '../upgrade/begun.ts';
import {
  addonsUpgraded,
  controlPlanesReady,
  isMarked,
  marked,
  rulesOfKubeadm,
  unmarked,
} from '../upgrade/cluster.step.ts';
import {
  apiAnswers,
  componentsSettled,
  controlPlaneUpgraded,
  etcdMinimum,
  hasOldEtcd,
  type KeepBefore,
  manifestsBack,
} from '../upgrade/control-plane.step.ts';
import { builtEtcdMinimum, builtEtcdUpgraded, etcdKubeletUpgraded } from '../upgrade/etcd.step.ts';
import { fetched, hopRepositories, lastRepository, nothingFetched } from '../upgrade/fetch.step.ts';
import { atHop, etcdBefore, type Hop } from '../upgrade/hop.ts';
import { kubeadmPackage, linuxUpgradeRoll, onceOnly, othersUpgraded, whileBehind } from '../upgrade/node.step.ts';
import { hasOldKubelet, isBehind } from '../upgrade/versions.ts';
import { windowsFetchPhase, windowsSettlePhase, windowsWorkerPhases } from '../upgrade/windows.phases.ts';
import { minorOf } from '../versions.ts';
import { verifyPhases } from './verify.phases.ts';

/** Workers that are older than the hop, or that an upgrade has left halfway. */
function dueWorkers(inventory: Inventory, fleet: Fleet, hop: Hop): readonly LinuxHost[] {
  const nodes = new Map(fleet.cluster.state === 'up' ? fleet.cluster.nodes.map((node) => [node.name, node]) : []);
  return linuxWorkers(inventory).filter((host) => {
    const node = nodes.get(host.name);
    return isBehind({ host, fleet }, hop) || isNoted(node) || isMarked(node);
  });
}

/**
 * Workers that are older than the hop: one alone first, then batches, each of which is cordoned as a whole before a
 * node of it is drained. A batch that fails ends those after it.
 */
function workerPhases(inventory: Inventory, fleet: Fleet, hop: Hop, options: RollOptions): readonly Phase[] {
  const due = dueWorkers(inventory, fleet, hop);
  const isOld = (target: AnyTarget): boolean => {
    const node = registeredNode(target);
    return node !== undefined && hasOldKubelet(node, hop.version);
  };
  // Alone, a worker has no other one that pods could prefer.
  const marks: readonly Step[] = due.length < 2 ? [] : [marked(isOld)];
  const turns = inBatches(
    due,
    { atOnce: options.atOnce, first: 'canary', cordons: options.drain !== 'no' },
    ({ number, which }) =>
      number === 0
        ? { name: 'canary', title: `Upgrade the first worker to ${hop.version}` }
        : { name: `workers-${String(number)}`, title: `Upgrade workers, ${which}` },
  );
  const roll = linuxUpgradeRoll(hop, options, {
    before: [jobEnded, kubeadmPatches, kubeadmPackage(hop)],
    whileDrained: runtimeSteps(inventory),
    gates: [nodeReady, networkReady],
    last: [unmarked((target) => marks.length > 0 && isOld(target))],
  });
  return [
    ...(marks.length === 0
      ? []
      : [linux('old-workers', 'Mark workers that are older', due, marks, { concurrency: due.length })]),
    ...rolling('linux', turns, { ...roll, othersBack: (hosts) => othersUpgraded(hop, hosts) }),
  ];
}

/** How an upgrade goes. */
interface UpgradeOptions extends RollOptions {
  /** From the running version to the desired one, in order. */
  readonly hops: readonly Hop[];
  /** Saves etcd's data and /etc/kubernetes before a control plane changes. */
  readonly keep: KeepBefore;
  /** How many Windows workers may be away at once; default: as many as Linux workers. */
  readonly windowsAtOnce?: number;
}

/** Puts back what a killed kubeadm has moved away: without it the API may be down, and nothing else can be planned. */
export const repairPhases = (inventory: Inventory): readonly Phase[] => [
  linux(
    'repair',
    'Put back manifests of an upgrade that was cut off',
    controlPlanes(inventory),
    [jobEnded, manifestsBack, apiAnswers],
    IN_TURN,
  ),
];

/** Everything that the hops need is on every host before anything restarts. */
const fetchSteps = (hops: readonly Hop[]): readonly Step[] => [
  jobEnded,
  ...hopRepositories(hops),
  ...hops.map((hop) => fetched(hop, hops.at(-1)!)),
];

/** The steps for an inventory that names the version of the hop. */
const at = <K extends Kind>(hop: Hop, steps: readonly Step<K>[]): readonly Step<K>[] =>
  steps.map((step) => atHop(hop, step));

/** The hops before one. */
const earlierThan = (hop: Hop, { hops }: UpgradeOptions): readonly Hop[] =>
  hops.slice(0, Math.max(0, hops.indexOf(hop)));

/** The steps for members of etcd on hosts of role etcd, which change to the minor of the hop. */
const memberSteps = (inventory: Inventory, hop: Hop, options: UpgradeOptions): readonly Step[] => [
  jobEnded,
  kubeadmPackage(hop),
  builtEtcdUpgraded(hop, options.keep),
  ...runtimeSteps(inventory).map((step) => whileBehind(hop, onceOnly(earlierThan(hop, options), step))),
  etcdKubeletUpgraded(hop),
];

/** The steps for control planes whose member of etcd needs another patch before the hop. */
const minimumSteps = (hop: Hop, options: UpgradeOptions): readonly Step[] => [
  ...[jobEnded, manifestsBack, upgradeTakenBack(options.hops), controlPlaneServes],
  // A host whose member stays as it is waits for no other one: the upgrade of that one may be what mends it.
  when((target) => hasOldEtcd(target, hop), controlPlanesReady(hop)),
  outOfBalancers((target) => hasOldEtcd(target, hop)),
  etcdMinimum(hop),
  backInBalancers((target) => hasOldEtcd(target, hop)),
];

/** What the upgrade of a control plane does. */
const controlPlaneRoll = (inventory: Inventory, hop: Hop, options: UpgradeOptions): NodeChange<'linux'> =>
  linuxUpgradeRoll(hop, options, {
    before: [
      ...[
        jobEnded,
        noMarker,
        manifestsBack,
        upgradeTakenBack(options.hops),
        controlPlaneServes,
        controlPlanesReady(hop),
      ],
      kubeadmPatches,
      kubeadmPackage(hop),
      // Out until the newer kubelet, too, has started the API server again.
      outOfBalancers((target) => isBehind(target, hop)),
      controlPlaneUpgraded(hop, options.keep),
    ],
    whileDrained: runtimeSteps(inventory).map((step) => onceOnly(earlierThan(hop, options), step)),
    gates: [nodeReady, networkReady, componentsSettled(hop), backInBalancers((target) => isBehind(target, hop))],
  });

/**
 * One hop of the control plane. etcd comes first, to the patch that the hop needs, and where kbuild built it on hosts
 * of its own, to its new minor; then one control plane after another, then the addons.
 */
function hopPhases(inventory: Inventory, hop: Hop, options: UpgradeOptions): readonly Phase[] {
  const { version } = hop;
  const minor = minorOf(version);
  const controls = controlPlanes(inventory);
  const members = etcdHosts(inventory);
  const needsMinimum = etcdBefore(hop) !== undefined;
  const stacked = needsMinimum && inventory.etcd.topology === 'stacked' ? controls : [];
  const running: Hop = { version: hop.from ?? version };
  const before = (phase: string): typeof WHOLE_IN_TURN => ({ ...WHOLE_IN_TURN, conditionOf: `${phase}-${minor}` });
  const prepare = `Prepare etcd for Kubernetes ${version}`;
  const minimum = at(running, [jobEnded, builtEtcdMinimum(hop, options.keep)]);
  const memberUpgrade = at(hop, memberSteps(inventory, hop, options));
  const upgrades = inTurn(`control-plane-${minor}`, `Upgrade control planes to ${version}`, controls, WHOLE_IN_TURN);
  const addons = at(hop, [rulesOfKubeadm(hop), addonsUpgraded(hop)]);
  return [
    linux(`etcd-minimum-${minor}`, prepare, needsMinimum ? members : [], minimum, before('etcd-members')),
    linux(`etcd-members-${minor}`, `Upgrade etcd for Kubernetes ${version}`, members, memberUpgrade, WHOLE_IN_TURN),
    linux(`etcd-${minor}`, prepare, stacked, at(running, minimumSteps(hop, options)), before('control-plane')),
    ...rolling('linux', upgrades, controlPlaneRoll(inventory, hop, options)),
    cluster(addonsPhase(hop), `Upgrade addons to ${version}`, controls, addons, WHOLE),
  ];
}

/** Windows workers come after all Linux workers. */
const workersOfBoth = (inventory: Inventory, fleet: Fleet, hop: Hop, options: UpgradeOptions): readonly Phase[] => [
  ...workerPhases(inventory, fleet, hop, options),
  ...windowsWorkerPhases(inventory, fleet, hop, { ...options, atOnce: options.windowsAtOnce ?? options.atOnce }),
];

/**
 * The phases that verify the cluster. The drains may leave all pods of CoreDNS on one node: that `up` would spread
 * them, and so this run does, stands in the plan.
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
 * What `kbuild upgrade` does, in order: downloads, then hop by hop the control plane, then the workers once, then what
 * is left. Each piece is pending only while something older runs, so the same command finishes what was cut off.
 */
export function upgrade(inventory: Inventory, fleet: Fleet, options: UpgradeOptions): readonly Phase[] {
  const { hops } = options;
  const last = hops.at(-1);
  const hosts = kubernetesHosts(inventory);
  const afterwards = (phases: (hop: Hop) => readonly Phase[]): readonly Phase[] =>
    last === undefined ? [] : phases(last);
  return ifAny(
    ...repairPhases(inventory),
    ...afterwards(() => [linux('fetch', 'Download packages and images', hosts, fetchSteps(hops))]),
    ...afterwards((hop) => [windowsFetchPhase(inventory, hop)]),
    ...hops.flatMap((hop) => hopPhases(inventory, hop, options)),
    ...afterwards(({ version }) => workersOfBoth(inventory, fleet, { version }, options)),
    // Leaves what `up` would: the repository of the running version, and nothing that only the upgrade needed.
    linux('settle', 'Remove what only the upgrade needed', hosts, [...lastRepository(hops), nothingFetched(hops)]),
    ...afterwards((hop) => [windowsSettlePhase(inventory, hop)]),
    ...verifiedPhases(inventory, fleet, hops),
  );
}
