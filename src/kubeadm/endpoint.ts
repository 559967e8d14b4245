import { isIPv4 } from 'node:net';
import { type Fleet, type Kinds, observedLinux } from '../cluster/fleet/fleet.ts';
import type { ClusterUp } from '../cluster/fleet/view.ts';
import { standing } from '../cluster/standing.ts';
import { apiServerUrl } from '../inventory/api-server.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';

/** A Linux host and its facts. */
type Seen = Kinds['linux'];

/**
 * The endpoint that kubeadm's configuration in the cluster names; empty if it names none. A move changes this setting
 * last.
 */
export function liveEndpoint({ configuration }: ClusterUp): string {
  const found = configuration['controlPlaneEndpoint'];
  return typeof found === 'string' ? found : '';
}

/** True while a move of the cluster to the inventory's endpoint is not complete. */
export const isMoving = (inventory: Inventory, cluster: ClusterUp): boolean =>
  liveEndpoint(cluster) !== inventory.endpoint;

/** The URL of an endpoint, as kubeconfigs name it. */
export const serverAt = (endpoint: string): string => `https://${endpoint}`;

/** True for the URL of a server on the host itself. */
export function isLoopback(server: string): boolean {
  const host = URL.canParse(server) ? new URL(server).hostname : '';
  return host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));
}

/**
 * True for the URL of a server on the host itself that is kbuild's haproxy: of `loadBalancer.kind: local`, or of a move
 * to or from it that was cut off.
 */
export function isOwnLoopback(server: string, { host, facts }: Seen): boolean {
  if (!isLoopback(server) || !facts.ownFiles.includes(paths.haproxyConfig)) return false;
  // Only `local` gives a worker kbuild's haproxy.
  if (host.role === 'worker') return true;
  return facts.listeners.some(({ port, process }) => String(port) === new URL(server).port && process === 'haproxy');
}

/** Kubeconfigs with which administrators reach the cluster. They name the endpoint on every control plane. */
const ADMINS: ReadonlySet<string> = new Set(['admin.conf', 'super-admin.conf']);

/** A kubeconfig that names another server than the inventory's endpoint. */
interface Astray {
  readonly name: string;
  readonly server: string;
}

/**
 * The kubeconfigs of a joined host that the move must point to the inventory's endpoint. The kubeconfigs of a control
 * plane's own components keep naming its own API server, as kubeadm writes them. A kubeconfig that names a load
 * balancer on the host itself stays as it is, unless kbuild built that one.
 */
export function kubeconfigsAstray(inventory: Inventory, cluster: ClusterUp, { host, facts }: Seen): readonly Astray[] {
  const wanted = serverAt(inventory.endpoint);
  const old = serverAt(liveEndpoint(cluster));
  const isLed = ({ name, server }: Astray): boolean => {
    if (server === '' || server === wanted) return false;
    if (isLoopback(server) && server !== old && !isOwnLoopback(server, { host, facts })) return false;
    if (host.role === 'worker') return name === 'kubelet.conf';
    if (ADMINS.has(name)) return true;
    return server === old && server !== apiServerUrl(inventory, host);
  };
  return [...facts.kubeconfigServers].map(([name, { server }]) => ({ name, server })).filter(isLed);
}

/** The observed Linux hosts that are nodes of the cluster. */
export const joinedNodes = (inventory: Inventory, fleet: Fleet): readonly Seen[] =>
  observedLinux(fleet).filter(
    ({ host, facts }) =>
      (host.role === 'control-plane' || host.role === 'worker') &&
      standing({ inventory, host, facts, fleet }) === 'joined',
  );

/**
 * Joined hosts to which the new endpoint does not serve this cluster, each with the answer: `w1 (connection refused)`.
 */
export const unproved = (inventory: Inventory, fleet: Fleet): readonly string[] =>
  joinedNodes(inventory, fleet).flatMap(({ host, facts: { newEndpoint } }) =>
    newEndpoint === 'not asked' || newEndpoint.answer === 'ok' ? [] : [`${host.name} (${newEndpoint.answer})`],
  );
