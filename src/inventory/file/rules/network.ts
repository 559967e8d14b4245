import { quantityOf } from '../../../kubeadm/typed.value.ts';
import { networkPluginNamed } from '../../../network/plugins.value.ts';
import { isObject } from '../../../shell/decode.ts';
import { bitsOf, eachOf, endpointParts, familiesOf, type Family, familyOf, widthOf } from '../../addresses.ts';
import { problem, type Rule, type Violation } from '../../schema/rule.ts';
import type { InventoryFile } from '../../schema/schema.ts';
import { ownNetworks } from './addresses.ts';
import { below } from './kubernetes/places.ts';

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
    const { host: zone = '', port = 53 } = endpointParts(key) ?? {};
    const earlier = seen.get(`${zone}:${String(port)}`);
    seen.set(`${zone}:${String(port)}`, key);
    if (earlier !== undefined) return [problem(path, `is the zone of "${earlier}"; write one block`)];
    if (port > 65_535) return [problem(path, `has no port of 1 to 65535`)];
    if (port === 53 && nested(zone, dnsDomain))
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

const DEFAULT_NODE_BITS: Readonly<Record<Family, number>> = { IPv4: 24, IPv6: 64 };

/**
 * Bits of the network that every node takes out of podSubnet: kubeadm leaves it to the controller manager, which takes
 * node-cidr-mask-size with one family only.
 */
export function nodeBits({ kubeadm, network }: InventoryFile, family: Family): number {
  const args = below(kubeadm.cluster, 'controllerManager', 'extraArgs');
  const names = [
    `node-cidr-mask-size-${family.toLowerCase()}`,
    ...(familiesOf({ network }).length === 1 ? ['node-cidr-mask-size'] : []),
  ];
  const own = (Array.isArray(args) ? (args as readonly unknown[]) : []).findLast(
    (one) => isObject(one) && names.includes(String(one['name'])) && /^\d+$/.test(String(one['value'])),
  );
  return Number(below(own, 'value') ?? DEFAULT_NODE_BITS[family]);
}

/** podSubnet has room for every node, and no more than kubeadm's 16 bits between it and a node's network. */
export const podSubnetSize: Rule = (file) =>
  eachOf(file.network.podSubnet).flatMap((cidr) => {
    const bits = bitsOf(cidr);
    const family = familyOf(cidr);
    const node = nodeBits(file, family);
    const path = ['network', 'podSubnet'];
    const usual = family === 'IPv6' ? `/${String(node - 8)}` : '/16';
    if (bits > node)
      return [problem(path, `/${bits} is smaller than one node's /${node}; use ${usual} or so${smallNodes(family)}`)];
    if (node - bits > 16)
      return [
        problem(path, `/${bits} is too large: kubeadm allows 16 bits above a node's /${node}; use /${node - 16}`),
      ];
    const nodes = file.hosts.filter(({ role }) => role === 'control-plane' || role === 'worker').length;
    return 2 ** (node - bits) < nodes
      ? [
          problem(
            path,
            `${cidr} has room for ${2 ** (node - bits)} node${node === bits ? '' : 's'} of /${node} each, and ` +
              `there are ${nodes}; use a larger one`,
          ),
        ]
      : [];
  });

/** What a small network of IPv6 needs. */
const smallNodes = (family: Family): string =>
  family === 'IPv4'
    ? ''
    : ', or give nodes less: node-cidr-mask-size-ipv6 in kubeadm.cluster.controllerManager.extraArgs';

/**
 * kubeadm's limits: at most 20 bits of Services, at least ten addresses (DNS is the tenth). Further networks keep to
 * them, too.
 */
export const serviceSubnetSize: Rule = (file) =>
  ownNetworks(file).flatMap(({ path, name, cidr }) => {
    const [bits, width] = [bitsOf(cidr), widthOf(familyOf(cidr))];
    const [largest, smallest] = [width - 20, width - 4];
    return name === 'podSubnet' || (bits >= largest && bits <= smallest)
      ? []
      : [problem(path, `/${bits} is too ${bits < largest ? 'large' : 'small'}: use /${largest} to /${smallest}`)];
  });

/** An MTU is for pods of a plugin that kbuild sets up, on Linux. */
export const mtuOfPlugin: Rule = ({ network: { mtu, plugin }, hosts }) => {
  if (mtu === undefined) return [];
  const why =
    networkPluginNamed(plugin).agent === undefined
      ? 'is a setting of the plugin that you install yourself; remove it'
      : 'is for pods on Linux, and Windows hosts would keep another one; remove it';
  return networkPluginNamed(plugin).agent === undefined || hosts.some(({ os }) => os === 'windows')
    ? [problem(['network', 'mtu'], why)]
    : [];
};

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
