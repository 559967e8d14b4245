import { endpointServes } from '../balancer/balancer.phases.ts';
import { type Fleet, linuxFacts } from '../cluster/fleet/fleet.ts';
import { cordonStep } from '../engine/drain.ts';
import { cluster, ifAny, linux, VERIFIES, WHOLE_IN_TURN } from '../engine/phases.ts';
import { batchesOf, cordonsFirst, type RollOptions } from '../engine/rolling.ts';
import type { Phase, Step } from '../engine/step.ts';
import { jobEnded } from '../host/idle.step.ts';
import {
  balancerBack,
  isDue,
  othersRebooted,
  rebootForgotten,
  rebootNote,
  rebootNoted,
  type Reboots,
  rebootSteps,
  whileDue,
} from '../host/reboot.step.ts';
import { linuxNodes } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost, Role } from '../inventory/inventory.ts';
import { corednsSpread, spreadAfterDrains } from '../kubeadm/coredns.step.ts';
import { controlPlaneServes } from '../kubeadm/join.step.ts';
import { nodeReady, settled } from '../kubeadm/ready.step.ts';
import { networkReady } from '../network/ready.step.ts';

/**
 * Which of these hosts a run restarts: those that want it, or all. If a run over all hosts was cut off, only its hosts are left: a
 * host without a note may be one that it has restarted. @throws FactError for a boot id or a pending reboot that is not known
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
const workerPhases = (workers: readonly LinuxHost[], reboots: Reboots, options: RollOptions): readonly Phase[] =>
  batchesOf(workers, options.atOnce, 'batch').flatMap((batch): readonly Phase[] => {
    const { hosts, number, which } = batch;
    const back = othersRebooted(reboots, hosts);
    const how = { concurrency: hosts.length, batch: `workers-${String(number)}` };
    const cordon = whileDue(
      reboots,
      cordonStep(() => true),
    );
    const steps = [back, jobEnded, ...rebootSteps(reboots, options, [nodeReady, networkReady])];
    return [
      ...(cordonsFirst(batch, options)
        ? [linux(`cordon-${String(number)}`, `Cordon workers, ${which}`, hosts, [back, cordon], how)]
        : []),
      linux(`reboot-workers-${String(number)}`, `Reboot workers, ${which}`, hosts, steps, how),
    ];
  });

/** What `up` would find to do afterwards: drains may leave CoreDNS on one node, and the control plane has just started. */
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
 * What `kbuild reboot` does, in order: it notes the boot ids, restarts workers in batches, then etcd hosts, control planes and load
 * balancers one at a time (the holder of the virtual address last), verifies the cluster, and removes the notes when all are through.
 */
export function reboot(inventory: Inventory, reboots: Reboots, options: RollOptions, fleet?: Fleet): readonly Phase[] {
  const { hosts } = reboots;
  const of = (role: Role): readonly LinuxHost[] => hosts.filter((host) => host.role === role);
  const serial = (name: string, title: string, role: Role, gates: readonly Step[]): readonly Phase[] =>
    // A phase for each host: a host that does not come back keeps the next one as it is.
    holderLast(inventory, fleet, of(role)).map((host) => {
      const steps = rebootSteps(reboots, options, [...gates, balancerBack]);
      const all = [othersRebooted(reboots, [host]), jobEnded, ...steps];
      return linux(`${name}-${host.name}`, `${title} ${host.name}`, [host], all, WHOLE_IN_TURN);
    });
  return ifAny(
    linux('note', 'Note which hosts restart', hosts, [rebootNoted(reboots)]),
    ...workerPhases(of('worker'), reboots, options),
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
