import { isIPv4 } from 'node:net';
import type { InventoryFile } from '../schema.ts';
import { overlap } from '../../topology/subnets.ts';
import { bindPort } from './bind-port.ts';
import { internalAddressOf } from './hosts.ts';
import { ownNetworks } from './network.ts';
import { problem, type Rule, type Violation } from './rule.ts';

/** haproxy's default port on a host that has an API server. */
const PORT_BESIDE = 8443;

/** True if kbuild builds the load balancer that holds the virtual address. */
export const isBuilt = ({ kind }: InventoryFile['loadBalancer']): boolean =>
  kind === 'keepalived' || kind === 'kube-vip';

const hasBalancers = ({ hosts }: InventoryFile): boolean => hosts.some(({ role }) => role === 'load-balancer');

/** The port at which the virtual address answers. */
export function balancerPort(file: InventoryFile): number {
  const { kind, port } = file.loadBalancer;
  const own = bindPort(file) ?? 6443;
  const fallback = kind === 'kube-vip' || hasBalancers(file) ? own : PORT_BESIDE;
  return port ?? (Number(file.kubernetes.endpoint?.split(':')[1] ?? '') || fallback);
}

/** The virtual address belongs to no host, and lies in no network of pods or Services. */
export const virtualAddress: Rule = ({ hosts, loadBalancer, network }) => {
  const { address } = loadBalancer;
  const path = ['loadBalancer', 'address'];
  if (!isBuilt(loadBalancer))
    return address === undefined
      ? []
      : [problem(path, `is of no use with kind ${loadBalancer.kind}; use keepalived or kube-vip, or remove it`)];
  if (address === undefined) return [problem(path, 'is required: a free IPv4 address that the hosts can take over')];
  const found: Violation[] = [];
  const owner = hosts.find((host) => host.address === address || internalAddressOf(host) === address);
  if (owner !== undefined)
    found.push(problem(path, `is the address of "${owner.name}"; a virtual address belongs to no host`));
  for (const { name, cidr } of ownNetworks({ network }))
    if (overlap(`${address}/32`, cidr))
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
          `the API servers listen at ${port} on the same hosts; use ${PORT_BESIDE}, or hosts of role load-balancer. A cluster that stands moves to another port with \`kbuild move-endpoint\``,
        ),
      ]
    : [];
};

/** An endpoint in the inventory points to the load balancer. */
export const endpointOfBalancer: Rule = (file) => {
  const { kubernetes, loadBalancer } = file;
  if (!isBuilt(loadBalancer) || kubernetes.endpoint === undefined) return [];
  const [host = '', port] = kubernetes.endpoint.split(':');
  const path = ['kubernetes', 'endpoint'];
  if (isIPv4(host) && host !== loadBalancer.address)
    return [
      problem(
        path,
        `is not loadBalancer.address ${loadBalancer.address ?? ''}; remove it, or use a name for that address`,
      ),
    ];
  return loadBalancer.port !== undefined && port !== undefined && Number(port) !== loadBalancer.port
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
