import type { UserManifest } from '../../inventory.ts';
import type { ServiceBalancers } from '../../network-plugins.ts';
import { endpointHost, familiesOf, familyOf, isIP, isUnreachable, rangeOf, shareAddress } from '../../addresses.ts';
import { type ManifestEntry, sourceOf } from '../../schema/formats.ts';
import { type Path, problem, type Rule, type Violation } from '../../schema/rule.ts';
import type { InventoryFile } from '../../schema/schema.ts';
import { internalAddressesOf, ownNetworks } from './addresses.ts';
import { below } from './kubernetes/places.ts';

type Settings = NonNullable<InventoryFile['network']['loadBalancers']>;

const PATH: Path = ['network', 'loadBalancers'];

/** The setting that names MetalLB's manifest. */
export const BALANCER_MANIFEST: Path = [...PATH, 'manifest'];

/** `config/manifests/metallb-native.yaml` of the tag, and of the Go module go.universe.tf/metallb. */
const METALLB = {
  source: 'https://raw.githubusercontent.com/metallb/metallb/v0.16.2/config/manifests/metallb-native.yaml',
  sha256: 'e5f7c268f114c446dc60aaad71b7cabf861f637743e033e354d7d48592807c6d',
} as const;

/** The manifests of the project that gives Services their addresses. */
export const balancerEntries = ({ network: { loadBalancers } }: InventoryFile): readonly ManifestEntry[] =>
  loadBalancers?.kind === 'metallb' ? [loadBalancers.manifest ?? METALLB] : [];

/** The settings with all defaults filled in. */
export const balancersOfServices = (
  { loadBalancer }: InventoryFile,
  { kind, pools, interfaces, image, providerImage }: Settings,
  manifests: readonly UserManifest[],
): ServiceBalancers => ({
  ...{ kind, pools, interfaces, manifests },
  image: image ?? loadBalancer.image,
  providerImage: providerImage ?? 'ghcr.io/kube-vip/kube-vip-cloud-provider:v0.0.12',
});

const ofOthers = (settings: Settings): readonly Violation[] =>
  (
    [
      ['manifest', 'metallb'],
      ['image', 'kube-vip'],
      ['providerImage', 'kube-vip'],
    ] as const
  ).flatMap(([name, kind]) =>
    settings[name] === undefined || settings.kind === kind
      ? []
      : [problem([...PATH, name], `is only for kind ${kind}; remove it`)],
  );

/** A manifest is code that runs in the cluster: from a file, or over TLS. */
const overTls = ({ manifest }: Settings): readonly Violation[] =>
  manifest !== undefined && /^[a-z]+:\/\//i.test(sourceOf(manifest)) && !sourceOf(manifest).startsWith('https://')
    ? [problem(BALANCER_MANIFEST, 'use https://, or a file')]
    : [];

/** One answers for an address, with what it needs of its kind. */
export const loadBalancersOfKind: Rule = (file) => {
  const { network, kubeadm } = file;
  const settings = network.loadBalancers;
  if (settings === undefined) return [];
  const { kind, pools, interfaces } = settings;
  const isOfOne = kind === 'kube-vip';
  return [
    ...ofOthers(settings),
    ...overTls(settings),
    ...(isOfOne && Object.keys(pools).length > 1
      ? [problem([...PATH, 'pools'], 'kube-vip takes one pool for all namespaces: write its addresses as one')]
      : []),
    ...(isOfOne && interfaces.length > 1
      ? [problem([...PATH, 'interfaces'], 'kube-vip answers at one interface: name one, or none')]
      : []),
    ...(kubeadm.kubeProxy['mode'] !== 'ipvs' || below(kubeadm.kubeProxy, 'ipvs', 'strictARP') === true
      ? []
      : [
          problem(
            [...PATH, 'kind'],
            'with kube-proxy in mode ipvs every node would answer ARP for every address: set ' +
              'kubeadm.kubeProxy.ipvs.strictARP: true',
          ),
        ]),
  ];
};

/** What has addresses already: name and addresses. */
function owners(file: InventoryFile): readonly (readonly [name: string, addresses: string])[] {
  const { hosts, loadBalancer, kubernetes } = file;
  const endpoint = endpointHost(kubernetes.endpoint ?? '');
  return [
    ...ownNetworks(file).map(({ name, cidr }) => [`network.${name}`, cidr] as const),
    ...hosts.flatMap((host) =>
      [...internalAddressesOf(host), host.address]
        .filter((address) => isIP(address) !== 0)
        .map((address) => [host.name, address] as const),
    ),
    ...(loadBalancer.address === undefined ? [] : [['loadBalancer.address', loadBalancer.address] as const]),
    ...(isIP(endpoint) === 0 ? [] : [['kubernetes.endpoint', endpoint] as const]),
  ];
}

/** Why addresses cannot be those of Services; undefined if they can. */
function wrong(file: InventoryFile, text: string, others: ReturnType<typeof owners>): string | undefined {
  if (rangeOf(text) === undefined)
    return 'must be a network such as 10.0.0.240/28, or a first and a last address of one family in that order';
  if (!familiesOf(file).includes(familyOf(text)))
    return `is of ${familyOf(text)}, which Services of this cluster do not have (network.serviceSubnet)`;
  if (text.split(/[-/]/).some((one) => isIP(one) !== 0 && isUnreachable(one)))
    return 'has addresses that no other host can reach: take some of the network of the hosts';
  const taken = others.find(([, addresses]) => shareAddress(text, addresses));
  return taken === undefined
    ? undefined
    : `has ${taken[1].includes('/') ? 'addresses of' : 'the address of'} ${taken[0]}, ${taken[1]}: take others`;
}

/** Addresses of pools are of the cluster's families, and free. */
export const loadBalancerPools: Rule = (file) => {
  const others = [...owners(file)];
  return Object.entries(file.network.loadBalancers?.pools ?? {}).flatMap(([pool, all]) =>
    all.flatMap((text, i) => {
      const why = wrong(file, text, others);
      others.push([`pool ${pool}`, text]);
      return why === undefined ? [] : [problem([...PATH, 'pools', pool, i], `${text} ${why}`)];
    }),
  );
};

/** node-cache takes packets to the address of cluster DNS away from kube-proxy, which only rules before NAT can. */
export const nodeLocalDns: Rule = (file) => {
  const { network, kubeadm } = file;
  const settings = network.nodeLocalDNS;
  if (settings === undefined) return [];
  const path = ['network', 'nodeLocalDNS'];
  const { address } = settings;
  const [family] = familiesOf(file);
  const isIpvs = kubeadm.kubeProxy['mode'] === 'ipvs';
  const pools = Object.values(network.loadBalancers?.pools ?? {}).flat();
  const taken = [...owners(file), ...pools.map((one) => ['network.loadBalancers', one] as const)].find(([, one]) =>
    shareAddress(one, address),
  );
  return [
    ...(isIpvs
      ? [
          problem(
            path,
            'kube-proxy in mode ipvs has the address of cluster DNS on an interface of its own, where no cache can ' +
              'listen: use network.kubeProxy: nftables or iptables, or remove it',
          ),
        ]
      : []),
    ...(rangeOf(address) === undefined || familyOf(address) !== family
      ? [problem([...path, 'address'], `must be an address of ${family!}, the primary family`)]
      : taken === undefined
        ? []
        : [problem([...path, 'address'], `${address} is in ${taken[0]} ${taken[1]}: take another one`)]),
  ];
};
