import { FactError } from '../errors.ts';
import type { MemberView } from '../etcd/view.facts.ts';
import { balancers } from '../inventory/hosts.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { type Fleet, linuxFacts } from './fleet/fleet.ts';
import type { ClusterUp } from './fleet/view.ts';
import { quorumOf } from './members.ts';

/** What elects a leader among the control planes. */
const CONTROLLERS = ['kube-controller-manager', 'kube-scheduler'] as const;

/** A host with its fleet and inventory. */
interface Place {
  readonly inventory: Inventory;
  readonly host: Host;
  readonly fleet: Fleet;
}

/** The list, or the unknown fact instead of it. */
function orUnknown(list: () => readonly string[]): readonly string[] {
  try {
    return list();
  } catch (error) {
    if (error instanceof FactError) return [error.message];
    throw error;
  }
}

/** The members of the etcd that the host belongs to; undefined if it runs no etcd. */
function members({ inventory, host, fleet: { cluster } }: Place): readonly MemberView[] | undefined {
  if (host.role === 'etcd') return cluster.etcd?.state === 'up' ? cluster.etcd.members : undefined;
  if (cluster.state !== 'up' || host.role !== 'control-plane') return undefined;
  return inventory.etcd.topology === 'stacked' ? cluster.members : undefined;
}

function etcdAilments(place: Place): readonly string[] {
  const all = members(place);
  if (all === undefined) return [];
  const own = all.find(({ name }) => name === place.host.name);
  if (own === undefined) return ['it has no etcd member'];
  return own.healthy && !own.learner ? [] : [`its etcd member is ${own.learner ? 'a learner' : 'not healthy'}`];
}

/** True for a control plane with neither a node nor a member: another one may be creating the cluster. */
const isYetToJoin = (place: Place, { nodes }: ClusterUp): boolean =>
  place.host.role === 'control-plane' &&
  !nodes.some(({ name }) => name === place.host.name) &&
  members(place)?.some(({ name }) => name === place.host.name) !== true;

function nodeAilments({ host, fleet }: Place, cluster: ClusterUp): readonly string[] {
  const node = cluster.nodes.find(({ name }) => name === host.name);
  // The host has not joined, so nothing depends on it.
  if (node === undefined) return [];
  const facts = host.os === 'linux' ? linuxFacts(fleet, host) : undefined;
  const server = node.role === 'control-plane' ? (cluster.apiServers.get(host.name) ?? 'no answer') : 'ok';
  return [
    ...(server === 'ok' ? [] : [`its API server: ${server}`]),
    ...(facts?.kubeletHealthy === false ? ['its kubelet is not healthy'] : []),
    ...(node.ready ? [] : [`its node is not Ready (${node.reason})`]),
  ];
}

/** What does not work in the haproxy by which a node reaches the API with `loadBalancer.kind: local`. */
function localAilments({ inventory, host, fleet }: Place, { nodes }: ClusterUp): readonly string[] {
  const facts = host.os === 'linux' ? linuxFacts(fleet, host) : undefined;
  if (inventory.loadBalancer.kind !== 'local' || facts === undefined) return [];
  if (!nodes.some(({ name }) => name === host.name)) return [];
  const { balancer } = facts;
  if (balancer === 'none') return ['its haproxy, by which it reaches the API, does not run'];
  const isDown = typeof balancer !== 'string' && ![...balancer.values()].some(({ isUp }) => isUp);
  return isDown ? ['its haproxy reaches no API server'] : [];
}

/**
 * What does not work on a host, as the cluster reports it; empty if the host works or has not joined. An unknown fact
 * counts as not working.
 */
export function ailments(place: Place): readonly string[] {
  const { inventory, host, fleet } = place;
  const { cluster } = fleet;
  return orUnknown(() => {
    if (cluster.state === 'absent') return etcdAilments(place);
    if (cluster.state === 'down') return [`the API does not answer (${cluster.reason})`];
    const balances = balancers(inventory).some(({ name }) => name === host.name);
    return [
      ...nodeAilments(place, cluster),
      ...(isYetToJoin(place, cluster) ? [] : etcdAilments(place)),
      ...localAilments(place, cluster),
      ...(balances && cluster.endpoint !== 'ok' && inventory.loadBalancer.kind !== 'local'
        ? [`${inventory.endpoint} does not serve the API (${cluster.endpoint})`]
        : []),
    ];
  });
}

/**
 * Why etcd would lose quorum if this host stopped for a moment. etcd with two members always loses it, so only the
 * other member must work.
 */
function etcdObstacles(place: Place): readonly string[] {
  const voters = members(place)?.filter(({ learner }) => !learner) ?? [];
  const others = voters.filter(({ name }) => name !== place.host.name);
  const healthy = others.filter((member) => member.healthy).length;
  if (others.length === voters.length || healthy === others.length || healthy >= quorumOf(voters.length)) return [];
  const off = others.filter((member) => !member.healthy).map(({ name, id }) => (name === '' ? `member ${id}` : name));
  return [
    `etcd would lose quorum without it: ${off.join(', ')} is not healthy (${String(healthy)} of ` +
      `${String(voters.length)} voters left, quorum ${String(quorumOf(voters.length))})`,
  ];
}

/**
 * Controller manager and scheduler of a control plane that are not ready, with what is known of it: `kube-scheduler:
 * CrashLoopBackOff`.
 */
export const ailingControllers = ({ pods }: Pick<ClusterUp, 'pods'>, node: string): readonly string[] =>
  CONTROLLERS.flatMap((component) =>
    pods
      .filter((pod) => pod.node === node && pod.labels['component'] === component && !pod.ready)
      .map(({ trouble }) => `${component}: ${trouble === '' ? 'not ready' : trouble}`),
  );

/** Why no other API server would serve in the meantime. A cluster with one control plane never has another. */
function serverObstacles({ host, fleet: { cluster } }: Place): readonly string[] {
  if (cluster.state !== 'up' || host.role !== 'control-plane') return [];
  const others = cluster.nodes.filter(({ name, role }) => role === 'control-plane' && name !== host.name);
  const answers = others.map(({ name }) => ({ name, answer: cluster.apiServers.get(name) ?? 'no answer' }));
  if (others.length === 0 || answers.some(({ answer }) => answer === 'ok')) return [];
  return [`no other API server is ready: ${answers.map(({ name, answer }) => `${name}: ${answer}`).join('; ')}`];
}

/**
 * Why kbuild may not restart the kubelet, runtime or static pods of a joined host now; empty if it may. A host that
 * does not work is never protected: it may be the host that needs repair.
 */
export function disruptionObstacles(place: Place): readonly string[] {
  const { host, fleet } = place;
  if (host.role !== 'control-plane' && host.role !== 'etcd') return [];
  return orUnknown(() => {
    const { cluster } = fleet;
    const votes = members(place) !== undefined && etcdAilments(place).length === 0;
    const serves = cluster.state === 'up' && cluster.apiServers.get(host.name) === 'ok';
    return votes || serves ? [...etcdObstacles(place), ...serverObstacles(place)] : [];
  });
}
