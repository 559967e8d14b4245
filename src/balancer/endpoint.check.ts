import { type Kinds, observedLinux } from '../cluster/fleet/fleet.ts';
import { hasReturned } from '../cluster/nodes.ts';
import {
  type Check,
  type CheckGroup,
  eachHost,
  type Finding,
  type HostFinding,
  type HostSeen,
  unknown,
} from '../engine/check.ts';
import { FactError } from '../errors.ts';
import { supportedDistribution } from '../host/packages/distributions.value.ts';
import { addressesOf, endpointHost, isIP } from '../inventory/addresses.ts';
import { balancers, controlPlanes } from '../inventory/hosts.ts';
import { paths } from '../paths.ts';
import type { EndpointAnswer } from './balancer.facts.ts';

const endpointName: Check = {
  name: 'endpoint-name',
  title: "the endpoint's name resolves on every host, and to the same address",
  why:
    'Kubelets reach the API by this name. Add it to DNS. With a single control plane you may set ' +
    '`kubernetes.endpointInHosts: true` instead. Without a load balancer the name must resolve to an address of ' +
    'the control plane.',
  severities: ['error'],
  test: ({ inventory, fleet }) => {
    const name = endpointHost(inventory.endpoint);
    if (isIP(name) !== 0 || inventory.endpointInHosts) return [];
    const [only, ...others] = controlPlanes(inventory);
    const own =
      inventory.loadBalancer.kind === 'none' && only !== undefined && others.length === 0
        ? [...addressesOf(only), only.address]
        : undefined;
    const found: Finding[] = [];
    const seen = new Map<string, string[]>();
    for (const { host, facts } of observedLinux(fleet)) {
      try {
        const addresses = facts.lookups.get(name) ?? [];
        const remedy = `correct DNS or /etc/hosts of the host`;
        if (addresses === 'silent' || addresses.length === 0) {
          const message =
            `cannot resolve ${name}, the ` +
            `endpoint${addresses === 'silent' ? ': no nameserver answered within 3 s' : ''}`;
          found.push({ severity: 'error', host: host.name, message, remedy });
        } else if (own !== undefined && !addresses.some((address) => own.includes(address))) {
          const message = `resolves ${name} to ${addresses.join(', ')}, but the endpoint is ${own[0]!} (${only!.name})`;
          found.push({ severity: 'error', host: host.name, message, remedy });
        } else {
          const key = addresses.toSorted().join(', ');
          seen.set(key, [...(seen.get(key) ?? []), host.name]);
        }
      } catch (error) {
        if (!(error instanceof FactError)) throw error;
        found.push(unknown(error));
      }
    }
    const [most, ...rest] = [...seen].toSorted(([, a], [, b]) => b.length - a.length);
    return [
      ...found,
      ...(own === undefined ? rest : []).flatMap(([addresses, names]) =>
        names.map((host) => ({
          severity: 'error' as const,
          host,
          message: `resolves ${name} to ${addresses}, other hosts to ${most![0]}`,
          remedy: 'make DNS and /etc/hosts of all hosts agree',
        })),
      ),
    ];
  },
};

const NO_WAY: Partial<Readonly<Record<EndpointAnswer, string>>> = {
  silent: 'does not answer: packets to it are lost',
  unreachable: 'cannot be reached: no machine has the address, or there is no route',
  unresolved: 'is a name that does not resolve',
};

const error = (message: string, remedy: string): readonly HostFinding[] => [{ severity: 'error', message, remedy }];

/** Reports a virtual address that another machine already has: kbuild is about to put it on a load balancer. */
function virtualAddressIsFree({ inventory, facts, fleet }: HostSeen): readonly HostFinding[] {
  const { loadBalancer } = inventory;
  if (!('address' in loadBalancer) || !['refused', 'open', 'serves'].includes(facts.endpoint)) return [];
  const { address } = loadBalancer;
  const isOurs = observedLinux(fleet).some(({ facts: its }) =>
    its.interfaces.some(({ addresses }) => addresses.includes(address)),
  );
  if (isOurs) return [];
  return error(`another machine has the virtual address ${address}`, 'choose a free address for loadBalancer.address');
}

const PAGE = {
  name: 'endpoint',
  title: 'the endpoint leads to a load balancer that waits, and a virtual address is free',
  why:
    'Before the cluster exists, a connection to `kubernetes.endpoint` should be refused: the load balancer runs, ' +
    'and no control plane is behind it yet. If the connection times out, it will never reach a control plane. If ' +
    'an API server answers, it belongs to another cluster. Mend the load balancer, or choose another address.',
  severities: ['error', 'warning'],
} as const;

/**
 * Checks that the endpoint leads to a load balancer. Before the cluster exists, a refused connection is right: the load
 * balancer runs, and no API server is behind it (kubernetes.io, "Creating Highly Available Clusters"). Before a host
 * joins, the API must answer there.
 */
export const endpoint = eachHost(PAGE, (seen) => {
  const { inventory, facts, fleet } = seen;
  const answer = facts.endpoint;
  if (answer === 'not asked') return [];
  if ('address' in inventory.loadBalancer) return fleet.cluster.state === 'absent' ? virtualAddressIsFree(seen) : [];
  const what = `the endpoint ${inventory.endpoint}`;
  const lost = NO_WAY[answer];
  if (lost !== undefined)
    return error(
      `${what} ${lost}`,
      'mend the load balancer or the name; before the cluster stands, a connection should be refused',
    );
  if (fleet.cluster.state !== 'absent')
    return answer === 'refused'
      ? error(`${what} refuses connections`, 'give the load balancer the control planes as backends')
      : [];
  if (answer === 'serves')
    return error(
      `${what} is served already, and there is no cluster of this inventory`,
      'name the load balancer of this cluster, without backends of another one',
    );
  return answer === 'refused'
    ? []
    : [
        {
          severity: 'warning',
          message:
            `${what} accepts connections before an API server runs: a balancer without backends, or another ` +
            'cluster?',
        },
      ];
});

type Holder = Kinds['linux'];

/** The hosts that hold the virtual address. */
const holdersOf = ({ fleet }: Pick<HostSeen, 'fleet'>, address: string): readonly Holder[] =>
  observedLinux(fleet).filter(({ facts }) => facts.interfaces.some(({ addresses }) => addresses.includes(address)));

/** Why a holder must give the address up, and how; undefined for a load balancer of the inventory. */
function claim({ inventory, fleet }: HostSeen, { host, facts }: Holder): Omit<HostFinding, 'severity'> | undefined {
  const isKubeVip = inventory.loadBalancer.kind === 'kube-vip';
  // Without its manifest the kubelet ends the pod, and kube-vip gives the address up.
  const stop = isKubeVip ? `mv ${paths.kubeVipManifest} /root/` : 'systemctl stop keepalived';
  const atOnce = `at once: \`${stop}\` on ${host.name}`;
  if (hasReturned(inventory, fleet, host, facts))
    return {
      message: 'it was removed from the cluster, and came back',
      remedy:
        `\`kbuild reset --hosts ${host.name}\` stops ${isKubeVip ? 'kube-vip' : 'keepalived'} first and cleans ` +
        `the host; ${atOnce}`,
    };
  if (inventory.loadBalancer.kind !== 'keepalived' || balancers(inventory).some(({ name }) => name === host.name))
    return undefined;
  return {
    message: 'it is no load balancer of the inventory',
    remedy: `\`kbuild up\` stops keepalived there; ${atOnce}`,
  };
}

export const virtualAddress = eachHost(
  {
    name: 'virtual-address',
    title: 'at most one host holds the virtual address of the load balancer',
    why:
      'Two hosts with the same virtual address take turns: a connection reaches the one that answered ARP last. ' +
      'It happens when a control plane that was removed as dead boots again, when a host is no load balancer any ' +
      'more, or when VRRP between two of them is dropped. No host needs a new address of its own. The message ' +
      'names the host that must give it up, and how.',
    severities: ['warning'],
  },
  (seen) => {
    const { inventory, host } = seen;
    if (!('address' in inventory.loadBalancer)) return [];
    const { address, kind } = inventory.loadBalancer;
    const holders = holdersOf(seen, address);
    const own = holders.find((one) => one.host.name === host.name);
    if (own === undefined || holders.length < 2) return [];
    const others = holders.flatMap((one) => (one.host.name === host.name ? [] : [one.host.name])).join(', ');
    const message = `holds the virtual address ${address}, and so does ${others}`;
    const claimed = claim(seen, own);
    if (claimed !== undefined) return [{ severity: 'warning', ...claimed, message: `${message}: ${claimed.message}` }];
    // If another holder is at fault, only that holder has a finding.
    if (holders.some((one) => claim(seen, one) !== undefined)) return [];
    return [
      {
        severity: 'warning',
        message: `${message}: neither knows of the other`,
        remedy:
          kind === 'keepalived'
            ? 'let VRRP (IP protocol 112) through between the load balancers; `kbuild up` mends their configurations'
            : 'see the log of kube-vip on both: kubectl -n kube-system get pods -o wide | grep kube-vip',
      },
    ];
  },
);

const packages = eachHost(
  {
    name: 'balancer-packages',
    title: 'the system of each host that gets a load balancer has packages',
    why:
      "HAProxy and keepalived come from the repositories of the host's own system. With `loadBalancer.kind: local` " +
      'every node needs HAProxy. A system that is an image without packages cannot have it: use kube-vip or an ' +
      'external load balancer.',
    severities: ['error'],
  },
  ({ inventory, host, facts }) => {
    const distribution = supportedDistribution(facts);
    if (distribution === undefined || distribution.packages !== undefined) return [];
    if (!balancers(inventory).some(({ name }) => name === host.name)) return [];
    return error(
      `gets HAProxy (loadBalancer.kind: ${inventory.loadBalancer.kind}), and ${distribution.name} has no packages`,
      'set loadBalancer.kind: kube-vip or external',
    );
  },
);

export const endpointChecks: CheckGroup = { host: [packages], fleet: [virtualAddress, endpointName, endpoint] };
