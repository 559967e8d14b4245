import { endpointHost, endpointParts, hostPort, isIP, isWithin } from '../../addresses.ts';
import { problem, type Rule, type Violation, warning } from '../../schema/rule.ts';
import type { HostEntry, InventoryFile } from '../../schema/schema.ts';
import { internalAddressesOf, ownNetworks } from './addresses.ts';

/** kubeadm's default port of API servers. */
const API_PORT = 6443;

/** The port at which API servers listen on their hosts; undefined when the override is no port. */
export function bindPort({ kubeadm }: InventoryFile): number | undefined {
  const local = kubeadm.init['localAPIEndpoint'] as { readonly bindPort?: unknown } | null | undefined;
  const given = local?.bindPort ?? API_PORT;
  return Number.isInteger(given) && Number(given) > 0 && Number(given) < 65_536 ? Number(given) : undefined;
}

/** haproxy's default port on a host that has an API server. */
const PORT_BESIDE = 8443;

/** haproxy's default port on 127.0.0.1 of every node. */
export const LOCAL_PORT = 7443;

/** The address at which haproxy of every node listens with `local`. */
export const LOOPBACK = '127.0.0.1';

/** True if kbuild builds a load balancer that holds a virtual address. */
const hasVirtualAddress = ({ kind }: InventoryFile['loadBalancer']): boolean =>
  kind === 'keepalived' || kind === 'kube-vip';

/** True if kbuild builds the load balancer, and with it the endpoint. */
const isBuilt = (loadBalancer: InventoryFile['loadBalancer']): boolean =>
  hasVirtualAddress(loadBalancer) || loadBalancer.kind === 'local';

const hasBalancers = ({ hosts }: InventoryFile): boolean => hosts.some(({ role }) => role === 'load-balancer');

/** The port at which the virtual address answers, or haproxy of every node. */
export function balancerPort(file: InventoryFile): number {
  const { kind, port } = file.loadBalancer;
  if (kind === 'local') return port ?? LOCAL_PORT;
  const own = bindPort(file) ?? 6443;
  const fallback = kind === 'kube-vip' || hasBalancers(file) ? own : PORT_BESIDE;
  return port ?? endpointParts(file.kubernetes.endpoint ?? '')?.port ?? fallback;
}

/**
 * Where clients reach the API, as `host:port`: haproxy of their own host, the virtual address, the inventory's endpoint
 * or the first control plane.
 */
export function endpointOf(file: InventoryFile): string {
  const { endpoint } = file.kubernetes;
  const { kind, address } = file.loadBalancer;
  if (kind === 'local') return hostPort(LOOPBACK, balancerPort(file));
  const { host = '', port = API_PORT } = endpointParts(endpoint ?? '') ?? {};
  if (hasVirtualAddress(file.loadBalancer) && address !== undefined)
    return hostPort(host === '' ? address : host, balancerPort(file));
  if (host !== '') return hostPort(host, port);
  const first = file.hosts.find(({ role }) => role === 'control-plane');
  const own = first === undefined ? '' : (internalAddressesOf(first)[0] ?? first.address);
  return hostPort(own, bindPort(file) ?? API_PORT);
}

/** The virtual address belongs to no host, and lies in no network of pods or Services. */
export const virtualAddress: Rule = ({ hosts, loadBalancer, network }) => {
  const { address } = loadBalancer;
  const path = ['loadBalancer', 'address'];
  if (!hasVirtualAddress(loadBalancer))
    return address === undefined
      ? []
      : [problem(path, `is of no use with kind ${loadBalancer.kind}; use keepalived or kube-vip, or remove it`)];
  if (address === undefined) return [problem(path, 'is required: a free address that the hosts can take over')];
  const found: Violation[] = [];
  const owner = hosts.find((host) => [host.address, ...internalAddressesOf(host)].includes(address));
  if (owner !== undefined)
    found.push(problem(path, `is the address of "${owner.name}"; a virtual address belongs to no host`));
  for (const { name, cidr } of ownNetworks({ network }))
    if (isWithin(address, cidr))
      found.push(problem(path, `lies in network.${name} ${cidr}; choose an address of the hosts' network`));
  return found;
};

/** No other component listens at the port of the virtual address. */
export const virtualPort: Rule = (file) => {
  const { loadBalancer } = file;
  const own = bindPort(file);
  const port = balancerPort(file);
  const path = loadBalancer.port === undefined ? ['kubernetes', 'endpoint'] : ['loadBalancer', 'port'];
  if (loadBalancer.address === undefined) return [];
  if (loadBalancer.kind === 'kube-vip')
    return port === own
      ? []
      : [problem(path, `must be ${String(own)}: kube-vip brings the API servers' own port to the virtual address`)];
  if (loadBalancer.kind !== 'keepalived') return [];
  if (port === loadBalancer.healthPort)
    return [problem(['loadBalancer', 'healthPort'], `is the port ${port} of the API already; choose another`)];
  return port === own && !hasBalancers(file)
    ? [
        problem(
          path,
          `the API servers listen at ${port} on the same hosts; use ${PORT_BESIDE}, or hosts of role ` +
            'load-balancer. A cluster that stands moves to another port with `kbuild move-endpoint`',
        ),
      ]
    : [];
};

/** An endpoint in the inventory points to the load balancer. */
export const endpointOfBalancer: Rule = (file) => {
  const { kubernetes, loadBalancer } = file;
  if (!hasVirtualAddress(loadBalancer) || kubernetes.endpoint === undefined) return [];
  const { host = '', port } = endpointParts(kubernetes.endpoint) ?? {};
  const path = ['kubernetes', 'endpoint'];
  if (isIP(host) !== 0 && host !== loadBalancer.address)
    return [
      problem(
        path,
        `is not loadBalancer.address ${loadBalancer.address ?? ''}; remove it, or use a name for that address`,
      ),
    ];
  return loadBalancer.port !== undefined && port !== undefined && port !== loadBalancer.port
    ? [problem(path, `its port is not loadBalancer.port ${loadBalancer.port}; use the same, or remove one`)]
    : [];
};

/** An external load balancer has an endpoint. */
export const externalEndpoint: Rule = ({ kubernetes, loadBalancer }) =>
  loadBalancer.kind === 'external' && kubernetes.endpoint === undefined
    ? [
        problem(
          ['kubernetes', 'endpoint'],
          'is required with loadBalancer.kind external: host:port of your load balancer',
        ),
      ]
    : [];

/** Hosts of role load-balancer need a load balancer that kbuild builds. */
export const balancersOfUse: Rule = ({ hosts, loadBalancer }) =>
  loadBalancer.kind === 'keepalived'
    ? []
    : hosts.flatMap(({ role }, i) =>
        role === 'load-balancer'
          ? [
              problem(
                ['hosts', i, 'role'],
                'hosts of role load-balancer need "loadBalancer: { kind: keepalived, address: … }"',
              ),
            ]
          : [],
      );

/** True if the endpoint is an address of this host. A DNS name is not: it can point elsewhere later. */
function isAt(kubernetes: InventoryFile['kubernetes'], host: HostEntry): boolean {
  const at = endpointHost(kubernetes.endpoint ?? '');
  return isIP(at) !== 0 && [host.address, ...internalAddressesOf(host)].includes(at);
}

/** The endpoint is not on a host that is neither control plane nor load balancer. */
export const endpointElsewhere: Rule = ({ hosts, kubernetes, loadBalancer }) =>
  isBuilt(loadBalancer)
    ? []
    : hosts
        .filter(({ role }) => role === 'worker' || role === 'etcd')
        .filter((host) => isAt(kubernetes, host))
        .map(({ name, role }) =>
          problem(
            ['kubernetes', 'endpoint'],
            `is the address of "${name}" (${role}), where no API server is; name a load balancer or a name that ` +
              'can move',
          ),
        );

/** With several control planes, users and kubelets need an address that belongs to none of them. */
export const endpointOfMany: Rule = ({ hosts, kubernetes, loadBalancer }) => {
  const many = hosts.filter(({ role }) => role === 'control-plane');
  if (many.length < 2) return [];
  const path = ['kubernetes', 'endpoint'];
  if (kubernetes.endpoint === undefined && isBuilt(loadBalancer)) return [];
  if (kubernetes.endpoint === undefined)
    return [
      problem(
        path,
        'is required with several control planes: host:port of a load balancer before them, e.g. ' +
          '"k8s.example.com:6443"; or let kbuild build one, e.g. with "loadBalancer: { kind: local }"',
      ),
    ];
  const own = many.find((host) => isAt(kubernetes, host));
  return own === undefined
    ? []
    : [problem(path, `is the address of "${own.name}"; name a load balancer or a name that can move instead`)];
};

/** Warns that a cluster whose endpoint is the address of its only control plane cannot get more of them. */
export const endpointCannotMove: Rule = ({ hosts, kubernetes, loadBalancer }) => {
  if (isBuilt(loadBalancer)) return [];
  const [only, ...others] = hosts.filter(({ role }) => role === 'control-plane');
  if (only === undefined || others.length > 0) return [];
  return kubernetes.endpoint === undefined || isAt(kubernetes, only)
    ? [
        warning(
          ['kubernetes', 'endpoint'],
          `is the address of "${only.name}", so a second control plane can be added only after the cluster has ` +
            'moved (`kbuild move-endpoint`). If it may grow: "loadBalancer: { kind: keepalived, address: … }" ' +
            "with a free address of the hosts' network, or a name that you can lead to a load balancer later, e.g. " +
            '"k8s.example.com:6443" (with endpointInHosts: true it needs no DNS)',
        ),
      ]
    : [];
};

/** Only a name can be put into /etc/hosts, and only when kbuild knows what it points to. */
export const endpointInHosts: Rule = ({ hosts, kubernetes, loadBalancer }) => {
  if (!kubernetes.endpointInHosts) return [];
  const path = ['kubernetes', 'endpointInHosts'];
  const host = endpointHost(kubernetes.endpoint ?? '');
  if (host === '' || isIP(host) !== 0)
    return [problem(path, 'needs a name in kubernetes.endpoint, e.g. "k8s.example.com:6443"')];
  return hosts.filter(({ role }) => role === 'control-plane').length > 1 && !isBuilt(loadBalancer)
    ? [
        problem(
          path,
          'with several control planes the name must point to your load balancer; put it into DNS and set ' +
            'endpointInHosts: false',
        ),
      ]
    : [];
};

/** Without a load balancer the API server answers at its own port only. */
export const endpointPort: Rule = (file) => {
  const { hosts, kubernetes, loadBalancer } = file;
  const own = bindPort(file);
  if (own === undefined)
    return [problem(['kubeadm', 'init', 'localAPIEndpoint', 'bindPort'], 'must be a port number, 1 to 65535')];
  const port = kubernetes.endpoint === undefined ? own : (endpointParts(kubernetes.endpoint)?.port ?? API_PORT);
  const single = hosts.filter(({ role }) => role === 'control-plane').length === 1;
  return single && loadBalancer.kind === 'none' && port !== own
    ? [
        problem(
          ['kubernetes', 'endpoint'],
          `the API server listens at port ${own}, not ${port}; use ${own}, or say "loadBalancer: { kind: ` +
            `external }" if one forwards ${port}`,
        ),
      ]
    : [];
};
