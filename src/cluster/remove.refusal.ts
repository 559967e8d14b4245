import { ifKnown, Refused } from '../errors.ts';
import { endpointHost } from '../inventory/addresses.ts';
import { selects } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { liveEndpoint } from '../kubeadm/endpoint.ts';
import type { RefusalName } from '../refusals/refusals.ts';
import { docsPage } from '../versions.ts';
import { type Fleet, type Observed, observedHost } from './fleet/fleet.ts';
import type { ClusterUp } from './fleet/view.ts';
import { clusterReasons, foreignHost, HOST_REFUSALS, hostRefusal } from './host.refusal.ts';
import { certifiedAsAnother, otherMachine } from './identity.ts';
import { liveCluster, type SeenLive } from './live.ts';
import { gate, livingElsewhere, membersOf } from './members.ts';
import { controlPlaneNodes } from './nodes.ts';
import { reason, type Reason, refusedFor, type Seen } from './reasons.ts';
import { type Leaving, stillThere } from './removal.ts';
import { runningPrograms } from './running-programs.ts';
import { clusterCas, clusterNameOf, standing } from './standing.ts';
import { casOf, shareCa } from './standings.ts';

/** Members that are healthy at another address than their host's. Asked again after the drain, when a member leaves. */
const membersElsewhere = (
  cluster: Pick<ClusterUp, 'members'>,
  leaving: readonly Leaving[],
): readonly Refused<'member-address'>[] =>
  leaving.flatMap((host) => membersOf(cluster, host).flatMap((member) => livingElsewhere(member, host) ?? []));

/** The leaving host whose address an endpoint is; undefined if there is none. */
function holderOf({ hosts }: Inventory, endpoint: string, leaving: readonly Leaving[]): Leaving | undefined {
  const at = endpointHost(endpoint);
  const going = new Set(leaving.map(({ name }) => name));
  // Another host may have the address of a dead host by now.
  const isKept = hosts.some((host) => !going.has(host.name) && [host.address, host.internalAddress].includes(at));
  return isKept
    ? undefined
    : leaving.find(({ internalAddress, host }) => [internalAddress, host?.address].includes(at));
}

/** A live cluster and the hosts that leave it. */
interface Removal extends SeenLive {
  readonly leaving: readonly Leaving[];
}

/** The control planes among those that leave. */
function lostControls({ cluster, leaving }: Removal): readonly string[] {
  const going = new Set(leaving.map(({ name }) => name));
  return controlPlaneNodes(cluster).flatMap(({ name }) => (going.has(name) ? [name] : []));
}

function lastControlPlane(removal: Removal): Refused<'last-control-plane'> | undefined {
  const controls = controlPlaneNodes(removal.cluster);
  const lost = lostControls(removal);
  if (controls.length === 0 || lost.length < controls.length) return undefined;
  return new Refused(
    'last-control-plane',
    lost.join(', '),
    `${controls.length === 1 ? 'it is the last control plane' : 'they are all control planes'} ` +
      `of ${removal.inventory.name}`,
    'join another control plane first',
  );
}

/** The inventory may name an endpoint to which the cluster is yet to be led: that one counts too. */
function endpointOfHost(removal: Removal): readonly Refused<'endpoint-of-host'>[] {
  const { inventory, cluster, leaving } = removal;
  const lost = lostControls(removal);
  return [...new Set([inventory.endpoint, liveEndpoint(cluster)])].flatMap((endpoint) => {
    const holder = holderOf(inventory, endpoint, leaving);
    if (holder === undefined || !lost.includes(holder.name)) return [];
    return [
      new Refused(
        'endpoint-of-host',
        holder.name,
        `the cluster's endpoint ${endpoint} is its address`,
        'lead the cluster to another endpoint first: `kbuild move-endpoint HOST:PORT`',
      ),
    ];
  });
}

const nodesElsewhere = ({ cluster, leaving }: Removal): readonly Refused<'node-elsewhere'>[] =>
  leaving.flatMap(({ name, host, internalAddress }) => {
    const node = cluster.nodes.find((candidate) => candidate.name === name && candidate.ready);
    if (host !== undefined || node === undefined || ['', internalAddress].includes(node.internalAddress)) return [];
    return [
      new Refused(
        'node-elsewhere',
        name,
        `its node is Ready at ${node.internalAddress}, and the inventory says ${internalAddress}: it is not gone`,
        `correct the address of ${name} in the inventory`,
      ),
    ];
  });

/** Each removal is judged after those before it. */
function quorumLost({ cluster, leaving }: Removal): readonly Refused<'quorum'>[] {
  const { alarms } = cluster;
  const remedy =
    alarms.length > 0
      ? `heal it first (${docsPage('operations.md#recover')}), then clear it with \`etcdctl alarm disarm\``
      : 'bring the members that are down back, or remove those that are gone for good first';
  let { members } = cluster;
  return leaving.flatMap((host) =>
    membersOf({ members }, host).flatMap(({ id }) => {
      const { allowed, why } = gate({ members, alarms }, { kind: 'remove', id });
      if (!allowed) return [new Refused('quorum', host.name, why, remedy)];
      members = members.filter((member) => member.id !== id);
      return [];
    }),
  );
}

/** What `remove` refuses, and `reset` of hosts of a live cluster. */
export const removalReasons: readonly Reason<Removal>[] = [
  reason(['last-control-plane'], lastControlPlane),
  reason(['endpoint-of-host'], endpointOfHost),
  reason(['node-elsewhere'], nodesElsewhere),
  reason(['member-address'], ({ cluster, leaving }) => membersElsewhere(cluster, leaving)),
  reason(['quorum'], quorumLost),
];

/**
 * Why these hosts may not leave a live cluster, all reasons at once: the last control plane, quorum (with the
 * arithmetic), the endpoint. Throws like `liveCluster`.
 */
export function removalRefusals(inventory: Inventory, fleet: Fleet, leaving: readonly Leaving[]): readonly Refused[] {
  return refusedFor(removalReasons, { inventory, fleet, cluster: liveCluster(fleet), leaving });
}

/** The hosts that `reset` tears down, and the names that the operator typed to confirm it. */
interface Resetting extends Seen {
  /** Patterns of `--hosts`; undefined: the whole cluster. */
  readonly hosts?: readonly string[] | undefined;
  /** Names that the operator typed (`--yes-destroy HOST`): `reset` cleans foreign data on these hosts only. */
  readonly confirmed: readonly string[];
}

/**
 * Hosts that `reset --hosts` would remove from a live cluster, as `remove` does: its members, and half-finished hosts
 * that have a Node or an etcd member.
 */
export function leavingByReset(
  inventory: Inventory,
  fleet: Fleet,
  hosts: readonly string[] | undefined,
): readonly string[] {
  const { cluster } = fleet;
  if (hosts === undefined || cluster.state !== 'up') return [];
  return inventory.hosts
    .filter(({ name }) => selects(hosts, name))
    .filter((host) => {
      const observed = observedHost(fleet, host.name);
      if (observed !== undefined && foreignHost(inventory, fleet, observed) !== undefined) return false;
      return cluster.nodes.some(({ name }) => name === host.name) || membersOf(cluster, host).length > 0;
    })
    .map(({ name }) => name);
}

/**
 * Refuses a control plane or etcd host of a cluster that does not answer: the host cannot leave, and its etcd member
 * may be needed. A host that is refused for itself has that reason alone.
 */
function silentMember(seen: Resetting, observed: Observed): Refused<'cluster-down'> | undefined {
  const { inventory, fleet, hosts } = seen;
  const { host, facts } = observed;
  const { role } = host;
  if (hosts === undefined || fleet.cluster.state === 'up' || (role !== 'control-plane' && role !== 'etcd'))
    return undefined;
  if (standing({ inventory, host, facts, fleet }) !== 'joined') return undefined;
  if (refusedHost(seen, observed) !== undefined) return undefined;
  return new Refused(
    'cluster-down',
    host.name,
    `it is ${role === 'etcd' ? 'an etcd member' : 'a control plane'} of a cluster that does not answer, and its ` +
      'etcd member may be needed',
    'bring the cluster back first: `kbuild status` says what does not answer',
  );
}

/**
 * The members of etcd that belong to the cluster. undefined: they cannot be read, because the runtime of the control
 * planes hangs, which a reset is to mend. Then the nodes alone tell who else is there.
 */
export function membersSeen({ etcd }: Inventory, { cluster }: Fleet): readonly { readonly name: string }[] | undefined {
  if (etcd.topology === 'external') return [];
  return ifKnown(
    () => (cluster.etcd?.state === 'up' ? cluster.etcd.members : cluster.state === 'up' ? cluster.members : []),
    undefined,
  );
}

/**
 * Control planes and members of etcd that live and that a reset of the whole cluster would leave, because the inventory
 * does not name them. They would lose their quorum, or go on as the cluster.
 */
function leftBehind({ inventory, fleet }: Seen): readonly Refused<'unnamed-control-plane'>[] {
  const named = new Set(inventory.hosts.map(({ name }) => name));
  const { cluster } = fleet;
  const nodes = cluster.state === 'up' ? controlPlaneNodes(cluster) : [];
  const names = new Set([...nodes, ...(membersSeen(inventory, fleet) ?? [])].map(({ name }) => name));
  return stillThere(
    fleet,
    [...names].filter((name) => name !== '' && !named.has(name)),
  ).map(
    ({ name, why }) =>
      new Refused(
        'unnamed-control-plane',
        inventory.name,
        `the inventory does not name ${name}, and ${why}: a reset would leave it without the other members of etcd`,
        `name ${name} in the inventory, so that it is reset too, or take it out first: \`kbuild remove ${name}\``,
      ),
  );
}

/** Nodes and etcd members that a reset of the whole cluster leaves: the inventory does not name them. */
export function unnamedIn(inventory: Inventory, fleet: Fleet): readonly string[] {
  const { cluster } = fleet;
  if (cluster.state !== 'up') return [];
  const named = new Set(inventory.hosts.map(({ name }) => name));
  const members = membersSeen(inventory, fleet) ?? [];
  return [...new Set([...cluster.nodes, ...members].map(({ name }) => name))].filter(
    (name) => name !== '' && !named.has(name),
  );
}

/**
 * Refuses a machine that bears the certificate of another host, unless it is surely of another cluster. While no
 * control plane was reached, a member of this cluster is foreign like any other, and the operator who types its name
 * means another machine.
 */
function mistakenForeign(inventory: Inventory, fleet: Fleet, observed: Observed) {
  const { facts } = observed;
  const told = clusterNameOf(facts);
  const cas = clusterCas(fleet);
  const isOthers =
    (told !== undefined && told !== inventory.name) ||
    (cas.size > 0 && facts.caFingerprint !== 'absent' && !shareCa(casOf(facts), cas));
  return isOthers ? undefined : certifiedAsAnother(inventory, fleet, observed);
}

/** Refuses a member of the cluster that is another machine than the inventory means: a reset would destroy it. */
const mistakenMember = (inventory: Inventory, fleet: Fleet, observed: Observed) =>
  standing({ inventory, fleet, ...observed }) === 'joined' ? otherMachine(inventory, fleet, observed) : undefined;

function unconfirmed<N extends RefusalName>(observed: Observed, refused: Refused<N>): Refused<N> {
  const { name } = observed.host;
  const alive = runningPrograms(observed);
  const command = `\`kbuild reset --hosts ${name} --yes-destroy ${name}\``;
  return new Refused(
    refused.refusal,
    name,
    refused.message.replace(`${name}: refused: `, ''),
    alive.length > 0
      ? `a cluster may live there (${alive.join(', ')} runs): find out which one before anything there is deleted`
      : `${command} cleans it all the same`,
  );
}

/** Why `reset` does not clean a host. It cleans a foreign one only after the operator typed its name. */
function refusedHost({ inventory, fleet, hosts, confirmed }: Resetting, observed: Observed) {
  const foreign = foreignHost(inventory, fleet, observed);
  if (foreign !== undefined)
    return confirmed.includes(observed.host.name)
      ? mistakenForeign(inventory, fleet, observed)
      : unconfirmed(observed, foreign);
  if (hosts === undefined) return mistakenMember(inventory, fleet, observed);
  return hostRefusal(inventory, fleet, observed);
}

const chosen = ({ fleet, hosts }: Resetting): readonly Observed[] =>
  fleet.hosts.filter(({ host }) => selects(hosts, host.name));

/** True where foreign hosts alone are cleaned: then it is no matter whose cluster answers. */
const cleansOnlyForeign = (seen: Resetting): boolean =>
  seen.hosts !== undefined &&
  chosen(seen).every((observed) => foreignHost(seen.inventory, seen.fleet, observed) !== undefined);

/**
 * What `reset` refuses. Members of a live cluster leave it first, and `removalReasons` judges that. A control plane of
 * a cluster that does not answer cannot leave it. A whole cluster of another name or CA is never cleaned.
 */
export const resetReasons: readonly Reason<Resetting>[] = [
  ...clusterReasons.map((one): Reason<Resetting> => ({
    ...one,
    test: (seen) => !cleansOnlyForeign(seen) && one.test(seen),
  })),
  reason(['unnamed-control-plane'], (seen) => seen.hosts === undefined && leftBehind(seen)),
  reason(HOST_REFUSALS, (seen) => chosen(seen).flatMap((observed) => refusedHost(seen, observed) ?? [])),
  reason(['cluster-down'], (seen) => chosen(seen).flatMap((observed) => silentMember(seen, observed) ?? [])),
];

/** Everything that `reset` refuses, all at once. Throws `FactError` when a fact that it needs is unknown. */
export const resetRefusals = (
  inventory: Inventory,
  fleet: Fleet,
  request: Pick<Resetting, 'hosts' | 'confirmed'>,
): readonly Refused[] => refusedFor(resetReasons, { inventory, fleet, ...request });
