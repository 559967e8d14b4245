import { bracketed, endpointHost, endpointParts } from '../inventory/addresses.ts';
import { balancers, controlPlanes, kubernetesHosts } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { probeInPlace } from '../shell/probe.ts';
import { script } from '../templates.ts';

/**
 * The result of a connection to the cluster's endpoint. `refused`: a machine without a listener there; `open`: a
 * listener of unknown kind; `serves`: it speaks HTTPS; `silent`: no answer in time; `unreachable`: no route, or no
 * machine has the address; `unresolved`: no such name.
 */
export type EndpointAnswer = 'refused' | 'open' | 'serves' | 'silent' | 'unreachable' | 'unresolved' | 'not asked';

const ANSWERS: readonly EndpointAnswer[] = ['refused', 'open', 'serves', 'silent', 'unreachable', 'unresolved'];

/**
 * True when kbuild does not manage the endpoint (an external load balancer, a DNS name, or an unassigned address) and
 * must probe it.
 */
function isAsked(inventory: Inventory, host: LinuxHost): boolean {
  const { endpoint, loadBalancer, endpointInHosts } = inventory;
  const name = endpointHost(endpoint);
  // Its haproxy answers before any API server does.
  if (loadBalancer.kind === 'local') return false;
  if (loadBalancer.kind === 'keepalived') return balancers(inventory).some((one) => one.name === host.name);
  if (loadBalancer.kind === 'kube-vip') return host.role === 'control-plane';
  if (endpointInHosts || controlPlanes(inventory).some(({ internalAddress }) => internalAddress === name)) return false;
  return kubernetesHosts(inventory).some((one) => one.name === host.name) && host.role !== 'etcd';
}

/**
 * The result of a connection to the endpoint from a host that has not joined. If kbuild manages a virtual address, the
 * host connects to that address.
 */
export function endpoint(inventory: Inventory, host: LinuxHost) {
  const { loadBalancer } = inventory;
  const address = 'address' in loadBalancer ? loadBalancer.address : endpointHost(inventory.endpoint);
  const port = String(endpointParts(inventory.endpoint)?.port ?? 443);
  const asked = isAsked(inventory, host) ? 'yes' : 'no';
  return probeInPlace(
    script('balancer/probe-endpoint.sh', { ASKED: asked, ADDRESS: address, URL_HOST: bracketed(address), PORT: port }),
    (out): EndpointAnswer => ANSWERS.find((answer) => answer === out.trim()) ?? 'not asked',
  );
}
