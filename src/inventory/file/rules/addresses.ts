import { networkPluginNamed } from '../../../network/plugins.value.ts';
import {
  eachOf,
  endpointHost,
  familiesIn,
  familiesOf,
  type Family,
  familyOf,
  hasIpv6,
  isIP,
  isPublic,
  isUnreachable,
  isWithin,
  overlap,
} from '../../addresses.ts';
import { type Path, problem, type Rule, type Violation, warning } from '../../schema/rule.ts';
import type { HostEntry, InventoryFile } from '../../schema/schema.ts';
import { login } from './hosts.ts';

/** The addresses at which Kubernetes listens on a host, the primary one first; empty if the entry has none. */
export const internalAddressesOf = ({ internalAddress, address }: HostEntry): readonly string[] =>
  internalAddress === undefined ? (isIP(address) === 0 ? [] : [address]) : eachOf(internalAddress);

const placeOf = (i: number, { internalAddress }: HostEntry): Path => [
  'hosts',
  i,
  internalAddress === undefined ? 'address' : 'internalAddress',
];

/** No two hosts have an address of the cluster in common. */
export const uniqueAddresses: Rule = (file) => {
  const owners = new Map<string, HostEntry>();
  return file.hosts.flatMap((host, i) =>
    internalAddressesOf(host).flatMap((address) => {
      const first = owners.get(address);
      owners.set(address, first ?? host);
      // That two hosts are the same machine for SSH is a problem of its own.
      if (first === undefined || (host.internalAddress === undefined && login(file, host) === login(file, first)))
        return [];
      return [
        problem(
          placeOf(i, host),
          `Kubernetes listens at ${address} on "${first.name}" already; every host needs its own internalAddress`,
        ),
      ];
    }),
  );
};

const both = (families: readonly Family[]): string => families.join(' and ');

/** Examples for messages. */
const EXAMPLES: Readonly<Record<Family, string>> = { IPv4: '10.0.0.11', IPv6: 'fd00::11' };
const SERVICES: Readonly<Record<Family, string>> = { IPv4: '10.96.0.0/12', IPv6: 'fd00:10:96::/112' };

/** Kubernetes has an address of each family to listen at, which others can reach. */
export const internalAddresses: Rule = (file) => {
  const families = familiesOf(file);
  // The wrong family then stands there.
  const isSure = both(families) === both(familiesIn(file.network.serviceSubnet));
  return file.hosts.flatMap((host, i) => {
    const addresses = internalAddressesOf(host);
    const example = families.map((family) => EXAMPLES[family]).join(',');
    const isDefault = host.internalAddress === undefined;
    if (addresses.length === 0 || (isSure && isDefault && familyOf(addresses[0]!) !== families[0]))
      return [
        problem(
          ['hosts', i, 'internalAddress'],
          `is required where address is no ${families[0]!} address: where Kubernetes listens, e.g. "${example}"`,
        ),
      ];
    const lost = addresses.find(isUnreachable);
    if (lost !== undefined)
      return [
        problem(
          placeOf(i, host),
          `other hosts cannot reach ${lost}; set internalAddress to an address of the host that they can`,
        ),
      ];
    const found = addresses.map(familyOf);
    if (!isSure || both(found) === both(families)) return [];
    // Hosts without a kubelet's node need the primary family only.
    if (found.length === 1 && found[0] === families[0] && host.role !== 'control-plane' && host.role !== 'worker')
      return [];
    return [
      problem(
        ['hosts', i, 'internalAddress'],
        `must be of ${both(families)}, as network.podSubnet is, found ${both(found)}: write e.g. "${example}"`,
      ),
    ];
  });
};

/** A network of pods or Services: the path of its setting, and the name by which messages call it. */
interface OwnNetwork {
  readonly path: Path;
  readonly name: string;
  readonly cidr: string;
}

/** The networks of pods and Services, each of one family. */
export const ownNetworks = ({ network }: Pick<InventoryFile, 'network'>): readonly OwnNetwork[] => [
  ...(['podSubnet', 'serviceSubnet'] as const).flatMap((name) =>
    eachOf(network[name]).map((cidr) => ({ path: ['network', name], name, cidr })),
  ),
  ...network.moreServiceSubnets.map((cidr, i) => ({
    path: ['network', 'moreServiceSubnets', i],
    name: 'moreServiceSubnets',
    cidr,
  })),
];

/**
 * Pods and Services have the same families: an API server starts only if the first family of Services is that of its
 * own address. What they need knows them.
 */
export const networkFamilies: Rule = (file) => {
  const { network, hosts, loadBalancer } = file;
  const families = familiesIn(network.podSubnet);
  const services = familiesIn(network.serviceSubnet);
  if (both(families) !== both(services))
    return [
      problem(
        ['network', 'serviceSubnet'],
        `must be of ${both(families)}, as podSubnet is, found ${both(services)}: write e.g. ` +
          `"${families.map((family) => SERVICES[family]).join(',')}"`,
      ),
    ];
  const { address } = loadBalancer;
  const windows = hosts.findIndex(({ os }) => os === 'windows');
  const plugin = networkPluginNamed(network.plugin);
  return [
    ...network.moreServiceSubnets.flatMap((cidr, i) =>
      families.includes(familyOf(cidr))
        ? []
        : [problem(['network', 'moreServiceSubnets', i], `must be of ${both(families)}, as serviceSubnet is`)],
    ),
    ...(address === undefined || familyOf(address) === families[0]
      ? []
      : [
          problem(
            ['loadBalancer', 'address'],
            `must be of ${families[0]!}, the primary family, at which the API servers are reached`,
          ),
        ]),
    ...(!hasIpv6(file) || windows < 0
      ? []
      : [
          problem(
            ['hosts', windows, 'os'],
            `Kubernetes on Windows has no IPv6 in overlay networks, nor has ${plugin.title} there: use IPv4 alone in ` +
              'podSubnet and serviceSubnet, or Linux hosts',
          ),
        ]),
  ];
};

/** Networks of pods and Services are private: hosts and pods reach no machine whose address is in one. */
export const privateNetworks: Rule = (file) =>
  ownNetworks(file)
    .filter(({ cidr }) => isPublic(cidr))
    .map(({ path, cidr }) =>
      warning(
        path,
        `${cidr} has public addresses: hosts and pods cannot reach their owners any more; use a private network, ` +
          'e.g. 10.244.0.0/16',
      ),
    );

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
    const remedy = `network.${name} ${cidr}; choose another ${name}`;
    hosts.forEach((host, i) => {
      const own = host.internalAddress === undefined ? [] : eachOf(host.internalAddress);
      for (const [setting, values] of [
        ['internalAddress', own],
        ['address', [host.address]],
      ] as const)
        for (const value of values)
          if (isIP(value) !== 0 && isWithin(value, cidr))
            found.push(problem(['hosts', i, setting], `${value} lies in ${remedy}`));
    });
    const at = endpointHost(kubernetes.endpoint ?? '');
    if (isIP(at) !== 0 && isWithin(at, cidr)) found.push(problem(['kubernetes', 'endpoint'], `lies in ${remedy}`));
  }
  return found;
};
