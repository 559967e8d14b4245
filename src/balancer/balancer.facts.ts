import { bracketed, endpointHost, endpointParts } from '../inventory/addresses.ts';
import { balancers, controlPlanes, kubernetesHosts } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import { lines, probeInPlace } from '../shell/probe.ts';
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

/** An API server as haproxy of a load balancer knows it. */
export interface BalancedServer {
  /** Its health check passes. */
  readonly isUp: boolean;
  /**
   * `ready`: it gets new connections while it is up. `drained`: none, as kbuild told haproxy. `other`: none, for
   * another reason, such as an operator's `maint`.
   */
  readonly turn: 'ready' | 'drained' | 'other';
}

/**
 * The API servers to which kbuild's haproxy on a host sends connections, by name. `none`: no such haproxy runs.
 * `uncontrolled`: it has no control socket yet, or the host has no program to use it. `silent`: it does not answer.
 */
export type BalancerState = 'none' | 'uncontrolled' | 'silent' | ReadonlyMap<string, BalancedServer>;

/** SRV_ST_RUNNING of haproxy's server-t.h. */
const RUNNING = 2;

/**
 * SRV_ADMF_FDRAIN of haproxy's server-t.h: forced by its control socket. Others are maintenance or come from the
 * configuration.
 */
const FORCED_DRAIN = 0x08;

/** @throws Error on a line that does not describe a server */
function parse(out: string): BalancerState {
  const all = lines(out).map((line) => line.trim());
  const [word] = all;
  if (word === 'none' || word === 'uncontrolled' || word === 'silent') return word;
  return new Map(
    all.map((line) => {
      const [, name, operational, administrative] = /^(\S+) (\d+) (\d+)$/.exec(line) ?? [];
      if (name === undefined) throw new Error(`haproxy's state of a server cannot be read: ${line}`);
      const flags = Number(administrative);
      return [
        name,
        {
          isUp: Number(operational) === RUNNING,
          turn: flags === 0 ? 'ready' : flags === FORCED_DRAIN ? 'drained' : 'other',
        },
      ];
    }),
  );
}

/** The state of kbuild's haproxy on the host. */
export const balancer = probeInPlace(
  script('balancer/probe-balancer.sh', {
    HEADER: OWN_HEADER,
    CONFIG: paths.haproxyConfig,
    SOCKET: paths.haproxySocket,
  }),
  parse,
);
