import { daysLeft } from '../certificates/validity.value.ts';
import { apiServerVersions, apiVersionsText, isMixed, lowestApiServer } from '../cluster/api-versions.ts';
import type { LinuxFacts } from '../cluster/fleet/linux.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { nodeProblems } from '../cluster/health.ts';
import { runningPrograms } from '../cluster/running-programs.ts';
import { standing } from '../cluster/standing.ts';
import {
  type Check,
  type CheckGroup,
  eachHost,
  eachHostOfAny,
  type Finding,
  type HostFinding,
  type HostSeen,
} from '../engine/check.ts';
import { supportedDistribution, versionIn } from '../host/packages/distributions.value.ts';
import { systemRuntime } from '../host/packages/installer.value.ts';
import { finishing } from '../host/unfinished.refusal.ts';
import { isPluginInterface } from '../network/plugins.value.ts';
import { containerRuntime } from '../runtime/runtimes.value.ts';
import { compareVersions, KUBELET_MINORS_BEHIND, minorNumber, minorOf, releaseOf } from '../versions.ts';
import { isForeignAction, UPGRADE } from './marker.facts.ts';

/** The check warns from this many days before the end: enough time to plan the replacement of hosts. */
const WARN_AT_DAYS = 90;

/**
 * The message about the end of security updates for `what`; undefined if more than WARN_AT_DAYS are left. `last`: the
 * last day, if it is known.
 */
function ending(what: string, last: string | undefined, nowMs: number): string | undefined {
  if (last === undefined) return undefined;
  // The last day counts.
  const days = daysLeft(Date.parse(last), nowMs) + 1;
  if (days > WARN_AT_DAYS) return undefined;
  return days < 0
    ? `${what} has had no security updates since ${last}`
    : `security updates for ${what} end on ${last}, in ${String(days)} days`;
}

function system(facts: LinuxFacts): readonly HostFinding[] {
  const distribution = supportedDistribution(facts);
  const version = distribution && versionIn(distribution, facts);
  if (distribution === undefined || version === undefined) return [];
  const message = ending(`${distribution.name} ${version}`, distribution.ends?.[version], facts.nowMs);
  if (message === undefined) return [];
  const remedy = 'add a host with a newer version of the system, then remove this one: kbuild remove';
  return [{ severity: 'warning', message, remedy }];
}

/**
 * Findings about the runtime's version in the inventory. Reports nothing if the system brings or packs the runtime
 * itself: then its own support counts.
 */
function runtime({ inventory, host, facts }: HostSeen): readonly HostFinding[] {
  const { name, title, ends, version } = containerRuntime(inventory);
  const isOfSystem = systemRuntime({ host, facts }, [name]) !== undefined;
  if (isOfSystem || supportedDistribution(facts)?.builtIn?.includes(name) === true) return [];
  const asked = inventory.runtime.version;
  const message = ending(`${title} ${minorOf(asked)}`, ends[minorOf(asked)], facts.nowMs);
  if (message === undefined) return [];
  const newest = version(minorOf(inventory.kubernetes.version));
  const isNewer = newest !== undefined && minorOf(newest) !== minorOf(asked);
  const remedy = isNewer
    ? `runtime.version: ${newest}`
    : `${title} lists no newer line for Kubernetes ${minorOf(inventory.kubernetes.version)}: upgrade Kubernetes`;
  return [{ severity: 'warning', message, remedy }];
}

const endOfLife = eachHost(
  {
    name: 'end-of-life',
    title: 'the system and the container runtime get security updates for at least 90 more days',
    why:
      'A node shares its kernel and its container runtime with every pod on it, and a hole without an update ' +
      'stays open. [Hosts](hosts.md) lists the last days of systems; for a system with long-term support that is ' +
      'free it is the last day of that. A version without a published day is not checked. The day is compared ' +
      'with the clock of the host.',
    severities: ['warning'],
  },
  (seen) => [...system(seen.facts), ...runtime(seen)],
);

const halfFinished = eachHostOfAny(
  {
    name: 'half-finished',
    title: 'no run of kbuild was interrupted during an init, join or reset of the host',
    why:
      '`up` undoes an init, join or reset that kubeadm did not complete, on a host that did not serve before, ' +
      'and repeats it. Any other unfinished action is reported, and never undone. A half-finished cluster of ' +
      'another inventory is refused (exit 7).',
    severities: ['due', 'warning'],
  },
  ({ inventory, host, facts, fleet }) => {
    if (typeof facts.marker === 'object' && isForeignAction(facts.marker))
      return [
        {
          severity: 'warning',
          message:
            `an unfinished ${facts.marker.action} of ${facts.marker.cluster} lies here (${facts.marker.stage}); ` +
            'up does not undo it',
          remedy: `${finishing(facts.marker)}${
            facts.marker.action === UPGRADE
              ? '; where it has changed nothing, `kbuild upgrade` with the version of before takes it back'
              : ''
          }`,
        },
      ];
    if (standing({ inventory, host, facts, fleet }) !== 'partial') return [];
    const action = typeof facts.marker === 'object' ? facts.marker.action : 'change';
    return [{ severity: 'due', message: `kbuild's ${action} is half finished; up undoes it and does it again` }];
  },
);

/** Interfaces of kube-proxy, and of network plugins that kbuild does not know. */
const LINKS = /^(?:kube-ipvs0|kube-bridge|weave)/;

const leftovers = eachHost(
  {
    name: 'leftovers',
    title: 'a host that is not a node has no packet filter rules and interfaces of a former cluster',
    why:
      'Leftover chains of kube-proxy and of network plugins answer for Services that no longer exist. A restart ' +
      'of the host removes them, unless a program on the host creates them again. `kbuild reset --hosts HOST` ' +
      'removes them at once: only where nothing else on the host uses them.',
    severities: ['warning'],
  },
  ({ host, facts }) => {
    if (facts.kubernetesTraces.size > 0) return [];
    const links = facts.interfaces.flatMap(({ name }) => (LINKS.test(name) || isPluginInterface(name) ? [name] : []));
    const found = [...facts.kubeChains, ...links, ...facts.leftovers];
    if (found.length === 0) return [];
    const alive = runningPrograms({ os: 'linux', host, facts });
    const shown = found.slice(0, 4).join(', ');
    return [
      {
        severity: 'warning',
        message: `a former cluster left ${shown}${found.length > 4 ? ` and ${String(found.length - 4)} more` : ''}`,
        remedy:
          alive.length > 0
            ? `a cluster may live there (${alive.join(', ')} runs): find out which one, or take ${host.name} out ` +
              'of the inventory'
            : `restart ${host.name}; if a leftover comes back, a program on the host creates it. If nothing on ` +
              `the host uses the leftovers: kbuild reset --hosts ${host.name}`,
      },
    ];
  },
);

const nodeHealth: Check = {
  name: 'node-health',
  title: 'every node of the cluster is Ready, without pressure, cordon or unexpected taint',
  why:
    'A node under disk, memory or PID pressure, without network, cordoned, or with a taint that neither the ' +
    'inventory nor Kubernetes explains takes no new pods. If all nodes are like that, nothing can be scheduled, ' +
    'although the objects of the cluster look right. `kbuild status` reports the same with exit 5.',
  severities: ['warning'],
  test: ({ inventory, fleet: { cluster } }) =>
    cluster.state !== 'up'
      ? []
      : cluster.nodes
          .flatMap((node) => nodeProblems(inventory, node))
          .map(({ name, message, remedy }) => ({
            severity: 'warning' as const,
            host: name,
            message,
            ...(remedy === undefined ? {} : { remedy }),
          })),
};

/** Reports that an upgrade is under way. That is no fault, but packages keep their version until it ends. */
function mixed(cluster: ClusterUp): readonly Finding[] {
  if (!isMixed(cluster)) return [];
  return [
    {
      severity: 'warning',
      message:
        `the API servers run different versions (${apiVersionsText(cluster)}; kubeadm noted ${cluster.version}); ` +
        `packages stay at ${lowestApiServer(cluster)} until all of them are upgraded`,
      remedy: `finish the upgrade: \`kbuild upgrade\` with kubernetes.version ${cluster.version}`,
    },
  ];
}

/**
 * A kubelet must be neither newer nor much older than the API servers: on a control plane its own API server counts, on
 * a worker every API server.
 */
const versionSkew: Check = {
  name: 'version-skew',
  title:
    'all API servers run one version, no kubelet of the cluster is newer than theirs, or more than three minors older',
  why:
    'Kubernetes supports no other combination. Bring the node to the version of the cluster. While an upgrade is ' +
    'under way, kbuild puts no newer kubelet onto any host than the oldest API server, and changes no setting ' +
    'that kubeadm would write in the new version.',
  severities: ['error', 'warning'],
  test: ({ fleet: { cluster } }) => {
    if (cluster.state !== 'up') return [];
    const servers = apiServerVersions(cluster);
    const lowest = lowestApiServer(cluster);
    const nodes = cluster.nodes.flatMap(({ name, kubeletVersion }) => {
      const kubelet = releaseOf(kubeletVersion);
      const own = servers.get(name) ?? lowest;
      const server = own === 'unknown' ? lowest : own;
      const older = minorNumber(server) - minorNumber(kubelet);
      const newer = compareVersions(minorOf(kubelet), minorOf(server)) > 0;
      if (!newer && older <= KUBELET_MINORS_BEHIND) return [];
      return [
        {
          severity: 'error' as const,
          host: name,
          message:
            `runs kubelet ${kubelet}, ${newer ? 'newer than' : `${String(older)} minors older than`} the API ` +
            `server ${server}`,
        },
      ];
    });
    return [...nodes, ...mixed(cluster)];
  },
};

const apiChannel: Check = {
  name: 'api-channel',
  title: 'kbuild asks the cluster through forwarded connections of its control planes',
  why:
    'kbuild asks the API server and etcd over channels of its SSH connection (`direct-tcpip`), which costs the ' +
    'host one small script. Where sshd forbids that (`AllowTcpForwarding no`, `PermitOpen`, `DisableForwarding ' +
    "yes`), or the administrator's kubeconfig holds no certificate, kbuild runs kubectl and etcdctl on the " +
    'control plane instead: the facts are the same, and each observation takes longer ' +
    '([security](security.md#what-kbuild-reads-of-the-cluster)). `AllowTcpForwarding local` in sshd_config is ' +
    'enough.',
  severities: ['warning'],
  test: ({ fleet: { cluster } }) =>
    cluster.state === 'up' && cluster.detour !== undefined
      ? [
          {
            severity: 'warning',
            host: cluster.via,
            message: `kubectl on the host asks the cluster, because its SSH connection cannot (${cluster.detour})`,
            remedy:
              'allow it in sshd_config (AllowTcpForwarding local, PermitOpen any) to observe in less time, or ' +
              'ignore this check',
          },
        ]
      : [],
};

export const kubernetesChecks: CheckGroup = {
  host: [endOfLife, leftovers, halfFinished],
  fleet: [versionSkew, nodeHealth, apiChannel],
};
