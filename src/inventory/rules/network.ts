import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Path } from '../path.ts';
import type { InventoryFile } from '../schema.ts';
import { overlap } from '../../topology/subnets.ts';
import { internalAddressOf } from './hosts.ts';
import { problem, type Rule, type Violation } from './rule.ts';

const DEFAULT_NODE_BITS = 24;

const bitsOf = (cidr: string): number => ipaddr.parseCIDR(cidr)[1];
/**
 * Returns a test whether an IPv4 address lies in a network. The CIDR is parsed once, because the test runs for every
 * host.
 */
function holder(cidr: string): (ip: string) => boolean {
  const network = ipaddr.parseCIDR(cidr);
  return (ip) => ipaddr.IPv4.parse(ip).match(network);
}

/** A network of pods or Services: the path of its setting, and the name by which messages call it. */
interface OwnNetwork {
  readonly path: Path;
  readonly name: string;
  readonly cidr: string;
}

/** The networks of pods and Services. */
export const ownNetworks = ({ network }: Pick<InventoryFile, 'network'>): readonly OwnNetwork[] => [
  ...(['podSubnet', 'serviceSubnet'] as const).map((name) => ({
    path: ['network', name],
    name,
    cidr: network[name],
  })),
  ...network.moreServiceSubnets.map((cidr, i) => ({
    path: ['network', 'moreServiceSubnets', i],
    name: 'moreServiceSubnets',
    cidr,
  })),
];

/** Networks that share addresses: the finding stands at the first of two, but for `moreServiceSubnets`, which can be edited later. */
const overlapping = (all: readonly OwnNetwork[]): readonly Violation[] =>
  all.flatMap((one, i) =>
    all
      .slice(i + 1)
      .filter((other) => overlap(one.cidr, other.cidr))
      .map((other) => {
        const [at, beside] = other.name === 'moreServiceSubnets' ? [other, one] : [one, other];
        return problem(at.path, `${at.cidr} overlaps ${beside.name} ${beside.cidr}; they must be disjoint`);
      }),
  );

/** Pods, Services and machines have networks of their own. */
export const disjointNetworks: Rule = (file) => {
  const { hosts, kubernetes } = file;
  const networks = ownNetworks(file);
  const found: Violation[] = [...overlapping(networks)];
  for (const { name, cidr } of networks) {
    const holds = holder(cidr);
    hosts.forEach((host, i) => {
      const ip = internalAddressOf(host);
      for (const [setting, value] of [
        ['internalAddress', ip],
        ['address', host.address],
      ] as const) {
        if (value === undefined || !isIPv4(value) || !holds(value)) continue;
        if (setting === 'internalAddress' && host.internalAddress === undefined) continue;
        found.push(problem(['hosts', i, setting], `${value} lies in network.${name} ${cidr}; choose another ${name}`));
      }
    });
    const endpointHost = kubernetes.endpoint?.split(':')[0] ?? '';
    if (isIPv4(endpointHost) && holds(endpointHost))
      found.push(problem(['kubernetes', 'endpoint'], `lies in network.${name} ${cidr}; choose another ${name}`));
  }
  return found;
};

/** Bits of the network that every node takes out of podSubnet. */
function nodeBits({ kubeadm }: InventoryFile): number {
  const manager = kubeadm.cluster['controllerManager'] as { readonly extraArgs?: unknown } | undefined;
  const args: readonly unknown[] = Array.isArray(manager?.extraArgs) ? manager.extraArgs : [];
  for (const arg of args) {
    const { name, value } = (arg ?? {}) as { readonly name?: unknown; readonly value?: unknown };
    if ((name === 'node-cidr-mask-size' || name === 'node-cidr-mask-size-ipv4') && /^\d+$/.test(String(value)))
      return Number(value);
  }
  return DEFAULT_NODE_BITS;
}

/** podSubnet has room for every node, and no more than kubeadm's 16 bits between it and a node's network. */
export const podSubnetSize: Rule = (file) => {
  const { podSubnet } = file.network;
  const bits = bitsOf(podSubnet);
  const node = nodeBits(file);
  const path = ['network', 'podSubnet'];
  if (bits > node) return [problem(path, `/${bits} is smaller than one node's /${node}; use /16 or so`)];
  if (node - bits > 16)
    return [problem(path, `/${bits} is too large: kubeadm allows 16 bits above a node's /${node}; use /${node - 16}`)];
  const nodes = file.hosts.filter(({ role }) => role === 'control-plane' || role === 'worker').length;
  return 2 ** (node - bits) < nodes
    ? [
        problem(
          path,
          `${podSubnet} has room for ${2 ** (node - bits)} nodes of /${node} each, and there are ${nodes}; use a larger one`,
        ),
      ]
    : [];
};

/** kubeadm's limits: at most 20 bits of Services, at least ten addresses (DNS is the tenth). Further networks keep to them, too. */
export const serviceSubnetSize: Rule = (file) =>
  ownNetworks(file).flatMap(({ path, name, cidr }) => {
    const bits = bitsOf(cidr);
    return name === 'podSubnet' || (bits >= 12 && bits <= 28)
      ? []
      : [problem(path, `/${bits} is too ${bits < 12 ? 'large' : 'small'}: use /12 to /28`)];
  });

/** The network of Windows pods has one route to Services, which names serviceSubnet. */
export const moreSubnetsOfLinux: Rule = ({ network: { moreServiceSubnets }, hosts }) =>
  moreServiceSubnets.length > 0 && hosts.some(({ os }) => os === 'windows')
    ? [
        problem(
          ['network', 'moreServiceSubnets'],
          'is not supported with Windows hosts: their pods reach no Service outside of serviceSubnet; remove it',
        ),
      ]
    : [];
