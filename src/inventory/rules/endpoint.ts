import { isIPv4 } from 'node:net';
import type { HostEntry, InventoryFile } from '../schema.ts';
import { API_PORT, bindPort } from './bind-port.ts';
import { internalAddressOf } from './hosts.ts';
import { isBuilt } from './load-balancer.ts';
import { problem, warning, type Rule } from './rule.ts';

/** True if the endpoint is an address of this host. A DNS name is not: it can point elsewhere later. */
function isAt(kubernetes: InventoryFile['kubernetes'], host: HostEntry): boolean {
  const at = kubernetes.endpoint?.split(':')[0];
  return at !== undefined && isIPv4(at) && [host.address, internalAddressOf(host)].includes(at);
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
            `is the address of "${name}" (${role}), where no API server is; name a load balancer or a name that can move`,
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
        'is required with several control planes: host:port of a load balancer before them, e.g. "k8s.example.com:6443"',
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
          `is the address of "${only.name}", so a second control plane can be added only after the cluster has moved (\`kbuild move-endpoint\`). If it may grow: "loadBalancer: { kind: keepalived, address: … }" with a free address of the hosts' network, or a name that you can lead to a load balancer later, e.g. "k8s.example.com:6443" (with endpointInHosts: true it needs no DNS)`,
        ),
      ]
    : [];
};

/** Only a name can be put into /etc/hosts, and only when kbuild knows what it points to. */
export const endpointInHosts: Rule = ({ hosts, kubernetes, loadBalancer }) => {
  if (!kubernetes.endpointInHosts) return [];
  const path = ['kubernetes', 'endpointInHosts'];
  const host = kubernetes.endpoint?.split(':')[0];
  if (host === undefined || isIPv4(host))
    return [problem(path, 'needs a name in kubernetes.endpoint, e.g. "k8s.example.com:6443"')];
  return hosts.filter(({ role }) => role === 'control-plane').length > 1 && !isBuilt(loadBalancer)
    ? [
        problem(
          path,
          'with several control planes the name must point to your load balancer; put it into DNS and set endpointInHosts: false',
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
  const port = kubernetes.endpoint === undefined ? own : Number(kubernetes.endpoint.split(':')[1] ?? API_PORT);
  const single = hosts.filter(({ role }) => role === 'control-plane').length === 1;
  return single && loadBalancer.kind === 'none' && port !== own
    ? [
        problem(
          ['kubernetes', 'endpoint'],
          `the API server listens at port ${own}, not ${port}; use ${own}, or say "loadBalancer: { kind: external }" if one forwards ${port}`,
        ),
      ]
    : [];
};
