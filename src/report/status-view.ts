import { expiring, type Expiring, expiringText, renewal } from '../certificates/expiry.ts';
import { apiVersionsText, isMixed } from '../cluster/api-versions.ts';
import { type Fleet, observedLinux } from '../cluster/fleet/fleet.ts';
import type { ClusterUp, ClusterView } from '../cluster/fleet/view.ts';
import { clusterProblems, type Problem } from '../cluster/health.ts';
import { changeRefusals } from '../cluster/host.refusal.ts';
import { taintText } from '../cluster/nodes.ts';
import { ifKnown } from '../errors.ts';
import { spaceFindings } from '../etcd/space.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { certificatesText, clusterText, OF_CONTROL_PLANE, type Status } from './status.ts';
import { versionsOf } from './versions.ts';

/** The cluster's part of a status. */
export function clusterStatus(
  cluster: ClusterUp,
  topology: 'stacked' | 'external',
): Pick<Status, 'version' | 'nodes' | 'apiServers' | 'etcd'> {
  const members = ifKnown(() => cluster.members, []);
  return {
    version: cluster.version,
    nodes: cluster.nodes.map((node) => ({
      name: node.name,
      role: node.role,
      ready: node.ready,
      version: node.kubeletVersion,
      os: node.os,
      runtime: node.runtime,
      address: node.internalAddress,
      conditions: node.conditions.map(({ type, status, reason }) => ({ type, status, reason })),
      cordoned: node.unschedulable,
      taints: node.taints.map(taintText),
    })),
    apiServers: [...ifKnown(() => cluster.apiServers, new Map<string, string>())]
      .map(([host, readyz]) => ({ host, readyz }))
      .sort((a, b) => a.host.localeCompare(b.host)),
    etcd: {
      topology,
      leader: members.find(({ leader }) => leader)?.name ?? '',
      members: members.map(({ name, id, peerUrl, learner, healthy, dbSize }) => ({
        name,
        id,
        peer: peerUrl,
        learner,
        healthy,
        dbSize,
      })),
      alarms: ifKnown(() => cluster.alarms, []),
    },
  };
}

const topologyOf = ({ etcd }: Inventory) => (etcd.topology === 'stacked' ? 'stacked' : 'external');

/** Hosts whose certificates a status shows together with what the API tells. */
export const controlPlaneHosts = ({ hosts }: Inventory): readonly string[] =>
  hosts.filter(({ role }) => role === 'control-plane' || role === 'etcd').map(({ name }) => name);

/** The certificates of hosts that told them. */
const certificatesIn = (hosts: Fleet['hosts']): Status['certificates'] =>
  hosts.flatMap((one) =>
    one.os === 'linux'
      ? ifKnown(() => one.facts.certificates, []).map(({ name, expires }) => ({ host: one.host.name, name, expires }))
      : [],
  );

/**
 * How the text of a cluster's status begins, before its hosts have told the rest; empty if no cluster answers. `told`:
 * hosts of the control plane, of which the certificates may be known.
 */
export const earlyStatusText = (
  inventory: Inventory,
  cluster: ClusterView,
  told: Fleet['hosts'],
  nowMs: number,
): string =>
  cluster.state === 'up'
    ? clusterText({
        cluster: inventory.name,
        endpoint: inventory.endpoint,
        ...clusterStatus(cluster, topologyOf(inventory)),
      }) + certificatesText(certificatesIn(told), OF_CONTROL_PLANE, nowMs)
    : '';

/** The same of a cluster that does not answer. */
const nothing = (topology: 'stacked' | 'external'): ReturnType<typeof clusterStatus> => ({
  version: '',
  nodes: [],
  apiServers: [],
  etcd: { topology, leader: '', members: [], alarms: [] },
});

/** The problem that no cluster answers. */
function absence(inventory: Inventory, fleet: Fleet): Problem {
  const { cluster } = fleet;
  const controls = controlPlanes(inventory).map(({ name }) => name);
  const missing = fleet.unreachable.map(({ host }) => host.name).filter((name) => controls.includes(name));
  const gone = missing.length === 0 ? '' : `; ${missing.join(', ')} cannot be reached`;
  const problem = { kind: 'cluster' as const, name: inventory.name };
  if (missing.length === controls.length)
    return {
      ...problem,
      message: `no control plane answers: ${missing.join(', ')} cannot be reached`,
      remedy: 'bring one of them back, or check the way to them; whether there is a cluster cannot be told until then',
    };
  if (cluster.state === 'down')
    return {
      ...problem,
      message: `its API does not answer: ${cluster.reason}${gone}`,
      remedy: 'see why on a control plane: crictl ps -a, then crictl logs ID; `kbuild plan` shows what up would mend',
    };
  const asked = controls.filter((name) => !missing.includes(name));
  return {
    ...problem,
    message: `there is no cluster on ${asked.join(', ')}${gone}`,
    remedy:
      missing.length === 0 ? '`kbuild up` builds it' : 'bring the others back: whether they have one is not known',
  };
}

/**
 * Why commands would refuse to change the cluster or a host that holds a part of it: it is not the one of the
 * inventory, whose addresses may belong to other machines by now. Refused workers are drift.
 */
function notOurs(inventory: Inventory, fleet: Fleet): readonly Problem[] {
  const holders = fleet.hosts.filter(({ host }) => host.role === 'control-plane' || host.role === 'etcd');
  const refused = ifKnown(
    () =>
      changeRefusals(
        inventory,
        fleet,
        holders.map(({ host }) => host.name),
        'moves runtimes',
      ),
    [],
  );
  return refused.map(({ refusal, subject, reason, remedy }) => ({
    kind: 'cluster',
    name: subject,
    message: reason,
    ...(remedy === undefined ? {} : { remedy }),
    refusal,
  }));
}

/** Problems of the cluster as a whole. "No cluster" is a problem only if the hosts hold no other cluster. */
function clusterTroubles(inventory: Inventory, fleet: Fleet): readonly Problem[] {
  const { cluster } = fleet;
  const refused = notOurs(inventory, fleet);
  if (cluster.state === 'up') return [...refused, ...clusterProblems(inventory, cluster)];
  return cluster.state === 'absent' && refused.length > 0 ? refused : [...refused, absence(inventory, fleet)];
}

/** Expired certificates of all hosts as problems, and one line about certificates that expire soon. */
function certificatesOf(
  inventory: Inventory,
  fleet: Fleet,
): Pick<Status, 'certificates' | 'problems'> & { readonly warnings: readonly string[] } {
  const hosts = observedLinux(fleet).map(({ host, facts }) => ({ host: host.name, facts }));
  const soon = hosts.flatMap(({ host, facts }) =>
    ifKnown(() => expiring(inventory, facts), []).map((one) => ({ ...one, host })),
  ) as readonly (Expiring & { readonly host: string })[];
  const [first] = soon.toSorted((a, b) => a.days - b.days);
  const others = soon.length - 1;
  return {
    certificates: certificatesIn(fleet.hosts),
    problems: soon
      .filter(({ days }) => days < 0)
      .map((one) => ({
        kind: 'certificate',
        name: one.host,
        message: `its certificate ${expiringText(one)}`,
        remedy: renewal([one]),
      })),
    warnings:
      first === undefined
        ? []
        : [
            `certificates: ${expiringText(first)} on ` +
              `${first.host}${others === 0 ? '' : `, and ${String(others)} more soon`}; ${renewal(soon)}`,
          ],
  };
}

/** While an upgrade is under way, the version of the cluster is not that of all of its API servers. */
function upgradeWarnings(cluster: ClusterUp): readonly string[] {
  const isUnderWay = ifKnown(() => isMixed(cluster), false);
  return isUnderWay ? [`the API servers run different versions: ${apiVersionsText(cluster)}`] : [];
}

/** A database of etcd that comes near its quota. An alarm is a problem. */
const spaceWarnings = ({ members, alarms }: ClusterUp): readonly string[] =>
  spaceFindings(members, alarms)
    .filter(({ severity }) => severity === 'warning')
    .map(({ message, remedy }) => `etcd: ${message}; ${remedy}`);

/**
 * The status of a fleet, whether a cluster answers or not. `drift`: what `up` would change, `trouble`: of Windows
 * hosts.
 */
export function statusOf(
  inventory: Inventory,
  fleet: Fleet,
  { drift, trouble }: Pick<Status, 'drift' | 'trouble'>,
): Status {
  const { cluster } = fleet;
  const topology = topologyOf(inventory);
  const certificates = certificatesOf(inventory, fleet);
  const problems = [...clusterTroubles(inventory, fleet), ...certificates.problems];
  return {
    cluster: inventory.name,
    versions: cluster.state === 'up' ? ifKnown(() => versionsOf(inventory, fleet, cluster), []) : [],
    endpoint: inventory.endpoint,
    healthy: problems.length === 0,
    problems,
    warnings: [
      ...certificates.warnings,
      ...(cluster.state === 'up' ? [...ifKnown(() => spaceWarnings(cluster), []), ...upgradeWarnings(cluster)] : []),
    ],
    ...(cluster.state === 'up' ? clusterStatus(cluster, topology) : nothing(topology)),
    certificates: certificates.certificates,
    drift,
    trouble,
  };
}
