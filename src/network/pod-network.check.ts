import ipaddr from 'ipaddr.js';
import { hasKubelet } from '../cluster/fleet/joined.ts';
import { objectKey } from '../cluster/fleet/view.ts';
import { type Check, type CheckGroup, eachHost, type Finding } from '../engine/check.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import { asCidr, eachOf, overlap } from '../inventory/addresses.ts';
import { compareVersions } from '../versions.ts';
import type { KernelFeature } from './plugin.value.ts';
import { isPluginInterface, networkPlugin } from './plugins.value.ts';
import type { PodBlocked } from './pod-network.survey.ts';
import { serviceCidr } from './service-subnets.step.ts';

const cniConfiguration = eachHost(
  {
    name: 'cni-configuration',
    title: "/etc/cni/net.d has no file that the runtime would read before the plugin's own",
    why:
      'The runtime uses the first file by name. A file that another cluster left there takes precedence over the ' +
      'file of the network plugin, and pods get addresses that no other pod can reach.',
    severities: ['error'],
  },
  ({ inventory, facts }) => {
    const { agent } = networkPlugin(inventory);
    if (agent === undefined || hasKubelet(facts)) return [];
    const { cniConfig } = agent;
    const before = facts.cniConfigurations.filter((name) => name < cniConfig);
    if (before.length === 0) return [];
    const files = before.map((name) => `/etc/cni/net.d/${name}`);
    return [
      {
        severity: 'error',
        message: `${files.join(', ')} would be used instead of ${cniConfig}`,
        remedy: `remove it, if nothing needs it: rm ${files.join(' ')}`,
      },
    ];
  },
);

const hostNamed = ({ hosts }: Inventory, node: string): Host | undefined => hosts.find(({ name }) => name === node);

/**
 * The remedy: the ports or routes between nodes that must carry the packets of pods, and the command that prints more.
 */
function carrier(inventory: Inventory, from: string, to: readonly string[]): string {
  const plugin = networkPlugin(inventory);
  const between = `between ${from} and ${to.join(', ')}`;
  if (plugin.agent === undefined) return `check the network plugin's pods, and what it needs ${between}`;
  const port = plugin.vxlanPort(inventory);
  return port === undefined
    ? `no router may stand ${between}, and the hosts must forward packets; ${plugin.agent.logs} says more`
    : `open udp port ${String(port)} (${plugin.name}) ${between}, in the firewalls of the hosts and on the way, ` +
        `and let the hosts forward packets; ${plugin.agent.logs} says more`;
}

const remedies: Readonly<
  Record<PodBlocked['to']['about'], (inventory: Inventory, from: string, to: readonly string[]) => string>
> = {
  pod: carrier,
  api: (_, from) => `kube-proxy of ${from} makes this address: kubectl -n kube-system logs -l k8s-app=kube-proxy`,
  dns: (_, from) =>
    'check CoreDNS (kubectl -n kube-system get pods -l k8s-app=kube-dns -o wide), and the network path from ' +
    `${from} to it`,
};

const whereTo = (about: PodBlocked['to']['about'], to: readonly string[]): string =>
  ({
    pod: `those on ${to.join(', ')}`,
    api: 'the API at its Service address',
    dns: 'cluster DNS for kubernetes.default',
  })[about];

const nodeOf = ({ to }: PodBlocked): readonly string[] => (to.about === 'pod' ? [to.node] : []);

const podNetwork: Check = {
  name: 'pod-network',
  title: 'pods on every node reach those on every other, the API and cluster DNS',
  why:
    'A survey of a live cluster (`check --active`): kbuild starts a pod of `network.testImage` on every Linux ' +
    'node, control planes too, in a namespace of its own that is removed afterwards, and connects from each to ' +
    'all others, to the API at its Service address, and by its name. The usual cause is a firewall that drops ' +
    'the overlay, on a host or between the hosts. If a pod does not start, the result is unknown. `kbuild ' +
    'windows selftest` tries the pods of Windows nodes.',
  severities: ['error', 'warning'],
  test: ({ inventory, fleet: { surveys } }) => {
    const pods = surveys?.pods;
    if (pods === undefined) return [];
    if ('failed' in pods)
      return [{ severity: 'unknown', message: `could not try the network from pods: ${pods.failed}` }];
    const { blocked, failed, untried } = pods.found;
    const about = (node: string) => (hostNamed(inventory, node) === undefined ? {} : { host: node });
    return [
      ...[...grouped(blocked).values()].map((group): Finding => {
        const { from, to, how } = group[0]!;
        const nodes = group.flatMap(nodeOf);
        return {
          severity: 'error',
          ...about(from),
          message: `pods on ${from} do not reach ${whereTo(to.about, nodes)}: ${how}`,
          remedy: remedies[to.about](inventory, from, nodes),
        };
      }),
      ...failed.map(({ node, reason }): Finding => ({
        severity: 'unknown',
        ...about(node),
        message: `could not try the network from a pod on ${node}: ${reason}`,
        remedy: `make sure that every node can pull ${inventory.network.testImage} (network.testImage)`,
      })),
      ...untried.map(({ node, reason }): Finding => ({
        severity: 'warning',
        ...about(node),
        message: `the network of pods was not tried on ${node}: ${reason}`,
      })),
    ];
  },
};

function grouped(blocked: readonly PodBlocked[]): ReadonlyMap<string, readonly PodBlocked[]> {
  const groups = new Map<string, PodBlocked[]>();
  for (const one of blocked) {
    const key = `${one.from} ${one.to.about} ${one.how}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return groups;
}

/**
 * True for an interface that a former node left, and that kbuild's network plugin takes over: `leftovers` warns of it.
 */
const isLeftover = (device: string): boolean => device === 'kube-ipvs0' || isPluginInterface(device);

const routeOverlap = eachHost(
  {
    name: 'route-overlap',
    title: 'no route of the host leads into podSubnet, serviceSubnet or moreServiceSubnets',
    why:
      'The host would send packets for pods elsewhere, or pods could not reach the network behind the route. ' +
      'Choose another subnet now: podSubnet and serviceSubnet of a live cluster cannot be changed.',
    severities: ['error'],
  },
  ({ inventory, facts, fleet }) => {
    const { podSubnet, serviceSubnet } = inventory.network;
    const { cluster } = fleet;
    const owned = cluster.state === 'up' ? cluster.owned : [];
    const subnets: readonly (readonly [setting: string, cidr: string])[] = [
      ...(hasKubelet(facts)
        ? []
        : Object.entries({ podSubnet, serviceSubnet }).flatMap(([setting, list]) =>
            eachOf(list).map((cidr) => [setting, cidr] as const),
          )),
      // `up` adds these to live clusters too.
      ...inventory.network.moreServiceSubnets
        .filter((cidr) => !owned.includes(objectKey(serviceCidr(cidr))))
        .map((cidr) => ['moreServiceSubnets', cidr] as const),
    ];
    const foreign = facts.routes.table.filter(({ destination }) => !['default', '::/0'].includes(destination));
    return subnets.flatMap(([setting, cidr]) =>
      foreign.flatMap(({ destination, device }) => {
        const network = asCidr(destination);
        if (!ipaddr.isValidCIDR(network) || isLeftover(device)) return [];
        // A host without a default route needs a route to exactly serviceSubnet.
        if (eachOf(serviceSubnet).includes(destination) || !overlap(cidr, network)) return [];
        return [
          {
            severity: 'error' as const,
            message:
              `its route to ${destination}${device === '' ? '' : ` (${device})`} lies in ` +
              `network.${setting} ${cidr}`,
            remedy: `choose another ${setting}`,
          },
        ];
      }),
    );
  },
);

const FEATURES: Readonly<Record<KernelFeature, string>> = {
  btf: 'no /sys/kernel/btf/vmlinux',
  bpffs: 'no file system bpf',
};

const pluginKernel = eachHost(
  {
    name: 'plugin-kernel',
    title: 'the kernel has what the network plugin needs',
    why:
      'Cilium needs kernel 5.10, the types of the running kernel (BTF, `CONFIG_DEBUG_INFO_BTF`) and the file system ' +
      'of BPF (`CONFIG_BPF_SYSCALL`): its agent ends at its start without them, and the node never becomes Ready. It ' +
      'mounts the file system itself.',
    severities: ['error'],
  },
  ({ inventory, host, facts }) => {
    const { kernel, title } = networkPlugin(inventory);
    if (kernel === undefined || (host.role !== 'control-plane' && host.role !== 'worker')) return [];
    const version = /^\d+(?:\.\d+)*/.exec(facts.kernel)?.[0] ?? '0';
    const lacks = kernel.features.filter((name) => !facts.kernelFeatures.has(name)).map((name) => FEATURES[name]);
    return [...(compareVersions(version, kernel.least) < 0 ? [`needs ${kernel.least}`] : []), ...lacks].map((what) => ({
      severity: 'error',
      message: `runs kernel ${facts.kernel}, and ${title} cannot run there: ${what}`,
      remedy: 'boot a kernel that has it, or choose another network.plugin',
    }));
  },
);

export const podNetworkChecks: CheckGroup = {
  host: [cniConfiguration, pluginKernel, routeOverlap],
  survey: [podNetwork],
};
