import { Refused } from '../errors.ts';
import { linuxFacts, type Fleet, type Observed } from '../facts/fleet.ts';
import { endpointHost } from '../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { controlPlanes, linuxNodes, selects, windowsHosts } from '../inventory/select.ts';
import { authorityRefusals } from './authority-refusals.ts';
import { calicoRefusals } from './calico-network.ts';
import { shortFingerprint } from '../shell/fingerprint.ts';
import { founder } from './founder.ts';
import { changedFixedSettings } from './immutable.ts';
import { pluginChange } from './plugin-change.ts';
import { windowsNetworkRefusals } from './windows-network.ts';
import { clusterCas, standing, toldClusterName } from './standing.ts';

/**
 * Everything about whose cluster this is that `up` refuses, all at once; empty when it may go on. Nothing was touched.
 * `hosts` are the patterns of `--hosts`: who would be changed. Throws `FactError` when a fact that it needs is not known.
 */
export function refusals(inventory: Inventory, fleet: Fleet, hosts?: readonly string[]): readonly Refused[] {
  const cas = severalCas(inventory, fleet);
  if (cas !== undefined) return [cas];
  return [
    ...adoption(inventory, fleet),
    ...authorityRefusals(inventory, fleet),
    ...fleet.hosts.flatMap((seen) => foreignHost(inventory, fleet, seen)),
    ...liveSettings(inventory, fleet),
    ...windowsNetworkRefusals(inventory, fleet),
    ...calicoRefusals(inventory, fleet),
    ...growth(inventory, fleet, hosts),
    ...founding(inventory, fleet, hosts),
  ];
}

function severalCas(inventory: Inventory, fleet: Fleet): Refused | undefined {
  const byCa = new Map<string, string[]>();
  for (const { host, facts } of fleet.hosts) {
    if (facts.caFingerprint === 'absent') continue;
    byCa.set(facts.caFingerprint, [...(byCa.get(facts.caFingerprint) ?? []), host.name]);
  }
  if (byCa.size < 2) return undefined;
  const held = [...byCa].map(([ca, names]) => `${names.join(', ')}: ${shortFingerprint(ca)}…`).join('; ');
  return new Refused(
    inventory.name,
    `the hosts belong to ${String(byCa.size)} clusters, by the public keys of their CAs (${held})`,
    'take the hosts of the other cluster out of the inventory, or `kbuild reset --hosts` those that it no longer needs',
  );
}

function adoption(inventory: Inventory, fleet: Fleet): readonly Refused[] {
  const { adopt } = inventory.kubernetes;
  const [ca] = clusterCas(fleet);
  if (adopt === undefined || ca === undefined || ca === adopt) return [];
  return [
    new Refused(
      inventory.name,
      `kubernetes.adopt names CA ${adopt}, the cluster has ${ca}`,
      'set kubernetes.adopt to the fingerprint of the cluster that you mean, or remove it',
    ),
  ];
}

function foreignHost(inventory: Inventory, fleet: Fleet, { host, facts }: Observed): readonly Refused[] {
  if (standing({ inventory, host, facts, fleet }) !== 'foreign') return [];
  const reset = `kbuild reset --hosts ${host.name}`;
  const told = toldClusterName(facts);
  if (told !== undefined && told !== inventory.name) {
    return [
      new Refused(
        host.name,
        `it belongs to the cluster "${told}", this inventory is "${inventory.name}"`,
        `use the inventory of "${told}", set kubernetes.adopt: ${facts.caFingerprint} to take that cluster over, or \`${reset}\` to free the host`,
      ),
    ];
  }
  const traces = [...facts.kubernetesTraces].slice(0, 4).join(', ');
  return [
    new Refused(
      host.name,
      `it holds remnants of a cluster that kbuild does not know (${traces}${facts.kubernetesTraces.size > 4 ? ', …' : ''})`,
      `\`${reset}\` cleans it`,
    ),
  ];
}

function liveSettings(inventory: Inventory, { cluster }: Fleet): readonly Refused[] {
  if (cluster.state !== 'up') return [];
  const { version } = inventory.kubernetes;
  return [
    ...(version === cluster.version
      ? []
      : [
          new Refused(
            inventory.name,
            `kubernetes.version is ${version}, the cluster runs ${cluster.version}`,
            `\`kbuild upgrade\` will do it; until then set kubernetes.version back to ${cluster.version}`,
          ),
        ]),
    ...pluginChange(inventory, cluster),
    ...changedFixedSettings(inventory, cluster.configuration).map(
      ({ setting, wanted, live }) =>
        new Refused(
          inventory.name,
          `${setting} is ${wanted}, the cluster was made with ${live === '' ? 'none' : live}, and Kubernetes cannot change it`,
          `set ${setting} back${live === '' ? '' : ` to ${live}`}, or build a new cluster`,
        ),
    ),
  ];
}

/** Control planes that would join a live cluster which cannot take them. */
function growth(inventory: Inventory, fleet: Fleet, hosts: readonly string[] | undefined): readonly Refused[] {
  const { cluster } = fleet;
  if (cluster.state !== 'up') return [];
  const joining = controlPlanes(inventory)
    .filter(({ name }) => selects(hosts, name))
    .filter((host) => isYetToJoin(inventory, fleet, host));
  if (joining.length === 0 || 'host' in founder(inventory, fleet)) return [];
  const names = joining.map(({ name }) => name).join(', ');
  const live = cluster.configuration['controlPlaneEndpoint'];
  const at = typeof live === 'string' ? endpointHost(live) : '';
  const owner =
    cluster.nodes.find(({ internalAddress }) => internalAddress === at)?.name ??
    inventory.hosts.find((host) => host.role !== 'load-balancer' && [host.address, host.internalAddress].includes(at))
      ?.name;
  const named = new Set(inventory.hosts.map(({ name }) => name));
  const unnamed = cluster.nodes.filter(({ name, role }) => role === 'control-plane' && !named.has(name));
  const way =
    'build a new cluster whose kubernetes.endpoint is a name or a virtual address, and move there; kubeadm puts the endpoint into every certificate and kubeconfig';
  return [
    ...(at === ''
      ? [new Refused(names, 'the cluster was made without an endpoint, so it cannot get more control planes', way)]
      : []),
    ...(owner === undefined
      ? []
      : [
          new Refused(
            names,
            `the cluster's endpoint ${String(live)} is the address of ${owner}, so it cannot get more control planes`,
            way,
          ),
        ]),
    ...unnamed.map(
      ({ name }) =>
        new Refused(
          names,
          `the inventory does not name ${name}, a control plane of the cluster: nobody can tell whether it is well`,
          `name it in the inventory, or take it out with \`kbuild remove ${name}\``,
        ),
    ),
    ...(cluster.alarms.length === 0
      ? []
      : [
          new Refused(
            names,
            `etcd has an alarm: ${cluster.alarms.join(', ')}`,
            'heal it first (docs/operations.md), then clear it with `etcdctl alarm disarm`',
          ),
        ]),
  ];
}

function isYetToJoin(inventory: Inventory, fleet: Fleet, host: LinuxHost): boolean {
  const facts = linuxFacts(fleet, host);
  if (facts === undefined) return false;
  const its = standing({ inventory, host, facts, fleet });
  return its !== 'joined' && its !== 'foreign';
}

function founding(inventory: Inventory, fleet: Fleet, hosts: readonly string[] | undefined): readonly Refused[] {
  if (fleet.cluster.state !== 'absent') return [];
  const joining = [...linuxNodes(inventory), ...windowsHosts(inventory)].filter(({ name }) => selects(hosts, name));
  if (joining.length === 0) return [];
  const who = founder(inventory, fleet);
  if ('none' in who) return [new Refused(inventory.name, `there is no cluster, and none can be founded: ${who.none}`)];
  if (selects(hosts, who.host.name)) return [];
  return [
    new Refused(
      joining[0]!.name,
      `there is no cluster to join, and --hosts leaves out ${who.host.name}, which would found it`,
      `run \`kbuild up\` with ${who.host.name} among the hosts`,
    ),
  ];
}
