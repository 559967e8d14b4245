import { networkPlugin } from '../components/network-plugins/index.ts';
import type { Host, Inventory } from '../model/inventory.ts';
import type { PodBlocked } from '../surveys/pod-network.ts';
import type { Check, Finding } from './check.ts';

const hostNamed = ({ hosts }: Inventory, node: string): Host | undefined => hosts.find(({ name }) => name === node);

/** What must let packets of pods pass between nodes, and where to read more. */
function carrier(inventory: Inventory, from: string, to: readonly string[]): string {
  const plugin = networkPlugin(inventory);
  const between = `between ${from} and ${to.join(', ')}`;
  if (plugin.agent === undefined) return `check the network plugin's pods, and what it needs ${between}`;
  const port = plugin.vxlanPort(inventory);
  return port === undefined
    ? `no router may stand ${between}, and the hosts must forward packets; ${plugin.agent.logs} says more`
    : `open udp port ${String(port)} (${plugin.name}) ${between}, in the firewalls of the hosts and on the way, and let the hosts forward packets; ${plugin.agent.logs} says more`;
}

const remedies: Readonly<
  Record<PodBlocked['to']['about'], (inventory: Inventory, from: string, to: readonly string[]) => string>
> = {
  pod: carrier,
  api: (_, from) => `kube-proxy of ${from} makes this address: kubectl -n kube-system logs -l k8s-app=kube-proxy`,
  dns: (_, from) =>
    `check CoreDNS (kubectl -n kube-system get pods -l k8s-app=kube-dns -o wide), and the network path from ${from} to it`,
};

const whereTo = (about: PodBlocked['to']['about'], to: readonly string[]): string =>
  ({
    pod: `those on ${to.join(', ')}`,
    api: 'the API at its Service address',
    dns: 'cluster DNS for kubernetes.default',
  })[about];

const nodeOf = ({ to }: PodBlocked): readonly string[] => (to.about === 'pod' ? [to.node] : []);

export const podNetwork: Check = {
  name: 'pod-network',
  title: 'pods on every node reach those on every other, the API and cluster DNS',
  why: 'A survey of a live cluster (`check --active`): kbuild starts a pod of `network.testImage` on every Linux node, control planes too, in a namespace of its own that is removed afterwards, and connects from each to all others, to the API at its Service address, and by its name. What usually stands in the way is a firewall that drops the overlay, on a host or between the hosts. Where a pod does not start it is unknown. Pods of Windows nodes are tried by `kbuild windows selftest`.',
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
        remedy: `${inventory.network.testImage} must be there for every node (network.testImage)`,
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
