import { NotSpared } from '../errors.ts';
import { apiServerUrlAt, kubectl } from '../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { lines } from '../shell/probe.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';
import { docsPage } from '../versions.ts';
import { type Fleet, observedLinux } from './fleet/fleet.ts';
import type { ClusterUp } from './fleet/view.ts';
import { acting, liveCluster } from './live.ts';
import { memberHost } from './member-host.ts';
import { passEtcdGate } from './members.ts';
import { controlPlaneNodes } from './nodes.ts';

/** A host that is about to restart, with its fleet and inventory. */
interface Place {
  readonly inventory: Inventory;
  readonly host: LinuxHost;
  readonly fleet: Fleet;
}

/** How long a control plane that works may take to show it, in s: a leader renews its lease every 2 s. */
const LOOK_SECONDS = 10;

/**
 * How long the other control planes may take until one may restart, in s, as everywhere else. A lease runs out 15 s
 * after its holder ended, and three times that is what an API server or a controller takes to start on a busy host.
 */
const PATIENCE_SECONDS = 300;

/**
 * How long something of the host itself must not have worked until it counts as broken, in s: it may just start again,
 * after a back-off.
 */
const BROKEN_SECONDS = 30;

/**
 * The control plane to ask: another one whose API server is ready, because that of the host itself may be what is to be
 * mended.
 */
function asked(cluster: ClusterUp, { host, fleet }: Place): LinuxHost {
  const others = observedLinux(fleet).filter(({ host: { name } }) => name !== host.name);
  return others.find(({ host: { name } }) => cluster.apiServers.get(name) === 'ok')?.host ?? acting(fleet);
}

/** Name and URL of the API servers of the cluster's control planes, those that the inventory does not name too. */
const servers = ({ inventory, fleet }: Place): readonly string[] =>
  controlPlaneNodes(liveCluster(fleet)).map(({ name, internalAddress }) => {
    const host = inventory.hosts.find((one) => one.name === name);
    const address = host?.os === 'linux' ? host.internalAddress : internalAddress;
    return `${name} ${apiServerUrlAt(inventory, address)}`;
  });

/**
 * Waits until the other control planes can do without this one: their API servers are ready, and so are their
 * controller managers and schedulers, and the leases of both are renewed. Returns at once for a host that is no control
 * plane, and for the only one. What has not worked on the host itself for 30 s is not asked of the others: the restart
 * may be what mends it. Whether a lease is renewed is seen by two looks at it, not by clocks, which may differ between
 * hosts.
 * @throws NotSpared with what is still missing after 5 minutes; FactError while the API does not answer
 */
export async function passControlPlaneGate(place: Place, on: On): Promise<void> {
  await passed(place, on, () => Promise.resolve());
}

/**
 * As `passControlPlaneGate`; passes another gate, too, which is the first to refuse, while the other control planes are
 * asked.
 */
async function passed(place: Place, on: On, other: () => Promise<void>): Promise<void> {
  const { inventory, host, fleet } = place;
  if (host.role !== 'control-plane' || fleet.cluster.state === 'absent') return other();
  const cluster = liveCluster(fleet);
  if (!controlPlaneNodes(cluster).some(({ name }) => name !== host.name)) return other();
  const via = asked(cluster, place);
  const look = (seconds: number) =>
    script('cluster/restart-gate.sh', {
      KUBECTL: kubectl(inventory, via).join(' '),
      NODE: host.name,
      SERVERS: servers(place),
      VIA: via.name,
      SECONDS_AT_MOST: seconds,
      BROKEN_SECONDS,
    });
  const [refused, first] = await Promise.allSettled([other(), on(via).run(look(LOOK_SECONDS))]);
  if (refused.status === 'rejected') throw refused.reason;
  if (first.status === 'rejected') throw first.reason;
  if (neededIn(first.value).length === 0) return;
  // A job reports what it waits for.
  const needed = neededIn(await on(via).job('restart-gate', look(PATIENCE_SECONDS)));
  // Minutes may have passed since the first answer.
  if (needed.length === 0) return other();
  throw new NotSpared(
    host.name,
    needed,
    `${host.name} was left as it is. Mend what is missing, and run the same command again: ` +
      docsPage('upgrade.md#one-control-plane-at-a-time'),
  );
}

const neededIn = (said: string): readonly string[] =>
  lines(said).flatMap((line) => (line.startsWith('needed: ') ? [line.slice('needed: '.length)] : []));

/**
 * The gate before a change that restarts a control plane or a member of etcd: every member of the etcd that kbuild
 * built on it votes and is healthy, etcd has no alarm, and the other control planes can do without this one.
 * @throws Refused for etcd, at once; NotSpared for the other control planes, after 5 minutes
 */
export async function passRestartGate(place: Place, on: On): Promise<void> {
  const { inventory, host, fleet } = place;
  const { topology } = inventory.etcd;
  const hasMember =
    (topology === 'stacked' && host.role === 'control-plane') || (topology === 'built' && host.role === 'etcd');
  await passed(place, on, async () => {
    // A single member is observed through itself.
    if (hasMember) await passEtcdGate(inventory, on(memberHost(inventory, fleet)), host);
  });
}
