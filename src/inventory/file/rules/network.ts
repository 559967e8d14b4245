import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { quantityOf } from '../../../kubeadm/typed.value.ts';
import type { Path } from '../../schema/path.ts';
import { problem, type Rule, type Violation, warning } from '../../schema/rule.ts';
import type { InventoryFile } from '../../schema/schema.ts';
import { overlap } from '../../subnets.ts';
import { internalAddressOf } from './hosts.ts';

/** kubeadm's own limits and requests of CoreDNS (cmd/kubeadm/app/phases/addons/dns/manifests.go). */
const KUBEADMS = { requests: { cpu: '100m', memory: '70Mi' }, limits: { memory: '170Mi' } } as const;

/** The API refuses pods that request more than their limit, and `kubeadm init` would fail half-way. */
export const dnsResources: Rule = ({ dns: { resources } }) =>
  (['cpu', 'memory'] as const).flatMap((name) => {
    const requests: Readonly<Record<string, string>> = { ...KUBEADMS.requests, ...resources?.requests };
    const limits: Readonly<Record<string, string>> = { ...KUBEADMS.limits, ...resources?.limits };
    const limit = limits[name];
    if (limit === undefined || quantityOf(requests[name]!)! <= quantityOf(limit)!) return [];
    const of = resources?.limits?.[name] === undefined ? "kubeadm's limit" : 'the limit';
    return [
      problem(
        ['dns', 'resources', resources?.requests?.[name] === undefined ? 'limits' : 'requests'],
        `${name}: the request ${requests[name]!} is more than ${of} ${limit}; set both`,
      ),
    ];
  });

/** Words of a block as CoreDNS reads them: quoted text is one word, and `#` begins a comment. */
const wordsOf = (block: string): readonly string[] =>
  block.match(/"(?:\\.|[^"\\])*"|#[^\n]*|[^\s"#]\S*/g)?.filter((word) => !word.startsWith('#')) ?? [];

/** Why a block is not closed in itself: then it would change those around it. */
function unbalanced(block: string): string | undefined {
  let depth = 0;
  for (const word of wordsOf(block)) {
    if (word === '{') depth += 1;
    else if (word === '}') depth -= 1;
    if (depth < 0) return 'has a "}" without its "{"; write the lines of the block without its own braces';
  }
  return depth === 0 ? undefined : 'has a "{" without its "}"';
}

/** True if names of one zone lie in the other. */
const nested = (a: string, b: string): boolean => a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);

/**
 * Blocks are whole, and none takes names of the cluster away from kubeadm's block: CoreDNS uses the one with the
 * longest zone.
 */
export const dnsBlocks: Rule = ({ dns: { blocks }, kubernetes: { dnsDomain } }) => {
  const seen = new Map<string, string>();
  return Object.entries(blocks).flatMap(([key, block]): readonly Violation[] => {
    const path = ['dns', 'blocks', key];
    const [zone = '', port = '53'] = key.split(':');
    const earlier = seen.get(`${zone}:${port}`);
    seen.set(`${zone}:${port}`, key);
    if (earlier !== undefined) return [problem(path, `is the zone of "${earlier}"; write one block`)];
    if (Number(port) > 65_535) return [problem(path, `has no port of 1 to 65535`)];
    if (port === '53' && nested(zone, dnsDomain))
      return [
        problem(
          path,
          `would answer for ${dnsDomain} instead of the cluster: no Service would have a name; choose another zone`,
        ),
      ];
    const why = unbalanced(block);
    return why === undefined ? [] : [problem(path, why)];
  });
};

/** kubeadm has no patch for what it does not deploy. */
export const dnsOfKubeadm: Rule = ({ dns: { replicas, resources, blocks }, kubeadm }) => {
  const own = kubeadm.cluster['dns'] as { readonly disabled?: unknown } | null | undefined;
  const isSet = replicas !== undefined || resources !== undefined || Object.keys(blocks).length > 0;
  return isSet && own?.disabled === true
    ? [
        problem(
          ['dns'],
          'is for the CoreDNS of kubeadm, which kubeadm.cluster.dns.disabled leaves out; remove one of them',
        ),
      ]
    : [];
};

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

/**
 * Networks that share addresses: the finding stands at the first of two, but for `moreServiceSubnets`, which can be
 * edited later.
 */
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

/** Networks of pods and Services are private: hosts and pods reach no machine whose address is in one. */
export const privateNetworks: Rule = (file) =>
  ownNetworks(file)
    .filter(({ cidr }) => ipaddr.IPv4.parseCIDR(cidr)[0].range() === 'unicast')
    .map(({ path, cidr }) =>
      warning(
        path,
        `${cidr} has public addresses: hosts and pods cannot reach their owners any more; use a private network, ` +
          'e.g. 10.244.0.0/16',
      ),
    );

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
          `${podSubnet} has room for ${2 ** (node - bits)} node${node === bits ? '' : 's'} of /${node} each, and ` +
            `there are ${nodes}; use a larger one`,
        ),
      ]
    : [];
};

/**
 * kubeadm's limits: at most 20 bits of Services, at least ten addresses (DNS is the tenth). Further networks keep to
 * them, too.
 */
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
