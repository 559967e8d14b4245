import { endpointServes } from '../balancer/balancer.phases.ts';
import { type Fleet, linuxFacts } from '../cluster/fleet/fleet.ts';
import { cluster, ifAny, linux, VERIFIES, WHOLE_IN_TURN } from '../engine/phases.ts';
import { inBatches, inTurn, rolling, type RollOptions, type Turn } from '../engine/rolling.ts';
import type { Phase, Step } from '../engine/step.ts';
import { jobEnded } from '../host/idle.step.ts';
import {
  balancerBack,
  isDue,
  rebootForgotten,
  rebootNote,
  rebootNoted,
  rebootRoll,
  type Reboots,
} from '../host/reboot.step.ts';
import { linuxNodes } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost, Role } from '../inventory/inventory.ts';
import { corednsSpread, spreadAfterDrains } from '../kubeadm/coredns.step.ts';
import { controlPlaneServes } from '../kubeadm/join.step.ts';
import { nodeReady, settled } from '../kubeadm/ready.step.ts';
import { networkReady } from '../network/ready.step.ts';

/**
 * Which of these hosts a run restarts: those that want it, or all. If a run over all hosts was cut off, only its hosts
 * are left: a host without a note may be one that it has restarted. @throws FactError for a boot id or a pending reboot
 * that is not known
 */
export function rebootsOf(fleet: Fleet, hosts: readonly LinuxHost[], which: 'all' | 'those that want it'): Reboots {
  const seen = hosts.flatMap((host) => {
    const facts = linuxFacts(fleet, host);
    return facts === undefined ? [] : [{ host, facts, note: rebootNote({ facts }) }];
  });
  const wasCutOff = seen.some(({ note }) => note === 'rebooted');
  const due = seen.filter(({ facts, note }) => {
    if (note !== 'none') return note === 'noted';
    return facts.pendingReboot !== 'none' || (which === 'all' && !wasCutOff);
  });
  const from = new Map(due.map(({ host, facts }) => [host.name, facts.bootId]));
  return {
    hosts: seen.filter(({ host, note }) => from.has(host.name) || note !== 'none').map(({ host }) => host),
    from,
  };
}

/** The hosts with the holder of the virtual address last. */
function holderLast(inventory: Inventory, fleet: Fleet | undefined, hosts: readonly LinuxHost[]): readonly LinuxHost[] {
  const { loadBalancer } = inventory;
  if (fleet === undefined || !('address' in loadBalancer)) return hosts;
  const { address } = loadBalancer;
  const holds = (host: LinuxHost): boolean =>
    linuxFacts(fleet, host)?.interfaces.some(({ addresses }) => addresses.includes(address)) === true;
  return [...hosts.filter((host) => !holds(host)), ...hosts.filter(holds)];
}

/** The first worker alone, then batches, each of which is cordoned as a whole before a node of it is drained. */
const workerTurns = (workers: readonly LinuxHost[], { atOnce, drain }: RollOptions): readonly Turn<LinuxHost>[] =>
  inBatches(workers, { atOnce, first: 'batch', cordons: drain !== 'no' }, ({ number, which }) => ({
    name: `reboot-workers-${String(number)}`,
    title: `Reboot workers, ${which}`,
    pausesAs: `workers-${String(number)}`,
  }));

/**
 * What `up` would find to do afterwards: drains may leave CoreDNS on one node, and the control plane has just started.
 */
function endPhases(inventory: Inventory, reboots: Reboots, fleet: Fleet | undefined): readonly Phase[] {
  const nodes = fleet?.cluster.state === 'up' ? fleet.cluster.nodes.map(({ name }) => name) : [];
  const joined = reboots.hosts.length === 0 ? [] : linuxNodes(inventory).filter(({ name }) => nodes.includes(name));
  const controls = reboots.hosts.filter(({ role }) => role === 'control-plane');
  const spread = linux('verify', 'Verify nodes', joined, [corednsSpread], VERIFIES);
  return [
    ...spreadAfterDrains([spread], (target) => isDue(target, reboots)),
    cluster('settled', 'Verify the control plane', controls, [endpointServes, settled], VERIFIES),
  ];
}

/**
 * What `kbuild reboot` does, in order: it notes the boot ids, restarts workers in batches, then etcd hosts, control
 * planes and load balancers one at a time (the holder of the virtual address last), verifies the cluster, and removes
 * the notes when all are through.
 */
export function reboot(inventory: Inventory, reboots: Reboots, options: RollOptions, fleet?: Fleet): readonly Phase[] {
  const { hosts } = reboots;
  const of = (role: Role): readonly LinuxHost[] => hosts.filter((host) => host.role === role);
  const roll = (gates: readonly Step[]) => rebootRoll(reboots, options, { before: [jobEnded], gates });
  const serial = (name: string, title: string, role: Role, gates: readonly Step[]): readonly Phase[] =>
    // A phase for each host: a host that does not come back keeps the next one as it is.
    holderLast(inventory, fleet, of(role)).flatMap((host) => {
      const turns = inTurn(`${name}-${host.name}`, `${title} ${host.name}`, [host], WHOLE_IN_TURN);
      return rolling('linux', turns, roll([...gates, balancerBack]));
    });
  return ifAny(
    linux('note', 'Note which hosts restart', hosts, [rebootNoted(reboots)]),
    ...rolling('linux', workerTurns(of('worker'), options), roll([nodeReady, networkReady])),
    ...serial('reboot-etcd', 'Reboot etcd host', 'etcd', []),
    ...serial('reboot-control-plane', 'Reboot control plane', 'control-plane', [
      nodeReady,
      controlPlaneServes,
      networkReady,
    ]),
    ...serial('reboot-balancer', 'Reboot load balancer', 'load-balancer', []),
    ...endPhases(inventory, reboots, fleet),
    linux('forget', 'Remove the notes', hosts, [rebootForgotten(reboots)]),
  );
}
