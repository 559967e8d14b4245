import { withChanges } from '../engine/combinators.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import { file } from '../host/file.step.ts';
import { service } from '../host/service.step.ts';
import { isSwitchedOn } from '../host/services.facts.ts';
import { endpointHost, endpointParts, hasIpv6, hostPort } from '../inventory/addresses.ts';
import { apiPort } from '../inventory/api-server.ts';
import { balancers, controlPlanes } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { isLoopback, isMoving, isOwnLoopback, liveEndpoint, serverAt } from '../kubeadm/endpoint.ts';
import { paths } from '../paths.ts';
import { sh } from '../shell/sh.ts';
import { render } from '../templates.ts';
import { keepalivedOf } from './keepalived.step.ts';

/** Where haproxy listens, and where it reports to keepalived that it has a backend. */
interface Listens {
  readonly binds: readonly string[];
  /** Undefined without keepalived on the host. */
  readonly healthPort?: number;
}

const portOf = (endpoint: string): string => String(endpointParts(endpoint)?.port ?? '');

/** Every address of the host. */
const everywhere = (inventory: Inventory, port: number | string): string =>
  hasIpv6(inventory) ? `:::${String(port)} v4v6` : `:${String(port)}`;

/** What a move that was cut off left: a kubeconfig of the host names another port of its haproxy. */
function usedBinds({ inventory, host, facts }: Target): readonly string[] {
  // Without it the host has no haproxy of kbuild's that could serve anything.
  if (!facts.ownFiles.includes(paths.haproxyConfig)) return [];
  return [...facts.kubeconfigServers.values()].flatMap(({ server }) =>
    server !== serverAt(inventory.endpoint) && isOwnLoopback(server, { host, facts }) ? [new URL(server).host] : [],
  );
}

/**
 * Where haproxy of this host goes on to serve the endpoint that a move leaves, if that one or the new one is on every
 * node: one haproxy then serves both, until the move is complete. Empty if it serves no other endpoint.
 */
export function formerBinds({ inventory, host, facts, fleet }: Target): readonly string[] {
  const { cluster } = fleet;
  if (cluster.state !== 'up' || host.role === 'load-balancer' || !isMoving(inventory, cluster)) return [];
  const old = liveEndpoint(cluster);
  const port = portOf(old);
  if (old === '' || port === portOf(inventory.endpoint)) return [];
  if (isLoopback(serverAt(old))) {
    // Another program there is a balancer of the user's.
    const isTaken = facts.listeners.some((one) => one.port === Number(port) && one.process !== 'haproxy');
    return isTaken ? [] : [hostPort(endpointHost(old), port)];
  }
  return inventory.loadBalancer.kind === 'local' && facts.ownFiles.includes(paths.keepalivedConfig)
    ? [everywhere(inventory, port)]
    : [];
}

function listens(target: Target): Listens {
  const { loadBalancer } = target.inventory;
  const former = [...new Set([...formerBinds(target), ...usedBinds(target)])];
  if (loadBalancer.kind !== 'local') {
    const { port, healthPort } = keepalivedOf(target.inventory);
    return { binds: [everywhere(target.inventory, port), ...former], healthPort };
  }
  return {
    binds: [target.inventory.endpoint, ...former],
    // keepalived holds the old endpoint's address while this haproxy says that it is well.
    ...(former.some((bind) => bind.startsWith(':')) ? { healthPort: loadBalancer.healthPort } : {}),
  };
}

/** Milliseconds between two checks of an API server: a dead one is out within 3 s. */
const CHECK_MS = 800;

/** So many haproxys check at that interval; each doubling of their number doubles it. */
const OFTEN = 40;

/**
 * With a balancer on every node, each API server answers at most 100 checks a second, a TLS handshake each. The
 * interval changes with a doubling of nodes alone: any other one would have all nodes reload for each node that joins.
 */
const checkMs = (inventory: Inventory): number =>
  CHECK_MS * 2 ** Math.max(0, Math.ceil(Math.log2(balancers(inventory).length / OFTEN)));

/** @throws Refused if haproxy of a node serves something of the user's: what kbuild writes would end that */
function refuseTaken({ inventory, host, facts }: Target): void {
  if (inventory.loadBalancer.kind !== 'local' || facts.ownFiles.includes(paths.haproxyConfig)) return;
  if (!isSwitchedOn(facts.services.get('haproxy'))) return;
  const ports = facts.listeners.filter(({ process }) => process === 'haproxy').map(({ port }) => port);
  if (ports.length === 0) return;
  throw new Refused(
    'haproxy-taken',
    host.name,
    `its haproxy serves something else already (port ${[...new Set(ports)].join(', ')}), and kbuild would replace ` +
      paths.haproxyConfig,
    'move that to another host or program, or choose another loadBalancer.kind',
  );
}

/** haproxy.cfg with every control plane as a backend. HAProxy's health check skips those that are not ready. */
export function haproxyConfig(target: Target): string {
  const { inventory } = target;
  return render('balancer/haproxy.cfg', {
    cluster: inventory.name,
    ...listens(target),
    checkMs: checkMs(inventory),
    socket: paths.haproxySocket,
    servers: controlPlanes(inventory).map(({ name, internalAddress }) => ({
      name,
      at: hostPort(internalAddress, apiPort(inventory)),
    })),
  });
}

const config = withChanges(
  file('haproxy-config', {
    path: paths.haproxyConfig,
    content: haproxyConfig,
    validate: (path) => sh`haproxy -c -q -f ${path}`,
    backup: paths.haproxyConfigBackup,
  }),
  (changes, target) => {
    refuseTaken(target);
    return changes;
  },
);

/** Runs HAProxy in front of the API servers. Its health check is /readyz. It stops using a dead backend within 3 s. */
export const haproxy: readonly Step[] = [
  config,
  service('haproxy', { uses: [paths.haproxyConfig], after: [config], on: 'reload' }),
];
