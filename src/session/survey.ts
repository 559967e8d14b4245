import { type Fleet, type Kinds, linuxFacts, observedLinux } from '../cluster/fleet/fleet.ts';
import type { Surveys } from '../cluster/fleet/surveys.ts';
import { refuseLocked } from '../engine/lock.ts';
import { etcdFolderOf } from '../etcd/folder.value.ts';
import { diskSync, overlayTrial } from '../host/disk.survey.ts';
import { clientsOf, listeningPorts } from '../host/openings.value.ts';
import { supportedDistribution } from '../host/packages/distributions.value.ts';
import { downloads, type Wanted } from '../host/packages/downloads.survey.ts';
import { portMatrix, type Way } from '../host/ports.survey.ts';
import { inventoryOn } from '../inventory/hosts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { portsNote } from '../report/record/notes.ts';
import { dataFolderOf } from '../runtime/runtimes.value.ts';
import { wantedDownloads } from './downloads.ts';
import type { Run } from './run.ts';

type Seen = Kinds['linux'];

/** True for a host that kubeadm has not changed. */
const isFresh = ({ facts }: Seen): boolean => facts.kubernetesTraces.size === 0;

/** The ways between reachable hosts that start or end at one of the hosts in `about`. */
function neededWays(inventory: Inventory, fleet: Fleet, about: readonly Seen[]): readonly Way[] {
  const reached = observedLinux(fleet);
  const meant = new Set(about.map(({ host }) => host.name));
  return reached.flatMap(({ host, facts }) =>
    listeningPorts(inventory, host).flatMap(({ port, protocol, program, from }): readonly Way[] => {
      const clients = clientsOf(inventory, host, from).filter(
        (client): client is LinuxHost => client.os === 'linux' && linuxFacts(fleet, client) !== undefined,
      );
      const needed = clients.filter(({ name }) => meant.has(host.name) || meant.has(name));
      const held = facts.listeners.some((listener) => listener.port === port && listener.protocol === protocol);
      const free = isFresh({ host, facts }) && !held;
      return needed.length === 0 ? [] : [{ to: host, port, protocol, program, from: needed, free }];
    }),
  );
}

/** Why a host cannot download anything yet; undefined: it can. */
function notYet(seen: Seen, wanted: readonly Wanted[]): string | undefined {
  if (supportedDistribution(seen.facts) === undefined)
    return 'downloads were not asked for: the system is not supported';
  const tls = wanted.some(({ urls }) => urls.some((url) => url.startsWith('https:')));
  return tls && !seen.facts.packages.has('ca-certificates')
    ? 'downloads were not asked for: up first installs the certificates of public authorities (ca-certificates)'
    : undefined;
}

/**
 * Surveys some hosts: the ways between them and all other hosts, and on fresh hosts the disks for etcd and the
 * downloads. Disturbs nothing that runs: it only connects to a port that a process holds, and skips a disk that holds
 * etcd. @throws Refused when another run holds the lock of a host: it may open a port there at any moment.
 */
export async function survey({ connected, inventory, note }: Run, about: readonly Seen[]): Promise<Surveys> {
  const fleet = connected.observations.fleet();
  const { on } = connected;
  const names = new Set(about.map(({ host }) => host.name));
  await refuseLocked(connected.remotes.filter(({ host }) => names.has(host.name)));
  const reached = observedLinux(fleet).map(({ host }) => host);
  const etcd = about.filter(({ host }) => host.role === 'control-plane' || host.role === 'etcd');
  const fresh = about.filter(isFresh).map((seen) => ({ ...seen, wanted: wantedDownloads(inventory, seen) }));
  const ways = neededWays(inventory, fleet, about);
  const [ports, disks, overlays, got] = await Promise.all([
    portMatrix(on, reached, ways),
    diskSync(
      on,
      etcd.filter(isFresh).map(({ host }) => host),
      etcdFolderOf(inventory),
    ),
    overlayTrial(
      on,
      fresh.filter(({ host }) => host.role !== 'load-balancer').map(({ host }) => host),
      (host) => dataFolderOf(inventoryOn(inventory, host)),
    ),
    downloads(
      on,
      fresh.filter((seen) => notYet(seen, seen.wanted) === undefined),
      inventory.proxy,
    ),
  ]);
  note(portsNote(ways, ports));
  return {
    ports,
    overlays,
    disks: [
      ...disks,
      ...etcd.flatMap((seen) => (isFresh(seen) ? [] : [{ host: seen.host, skipped: 'etcd runs there' }])),
    ],
    downloads: [
      ...got,
      ...fresh.flatMap((seen) => {
        const skipped = notYet(seen, seen.wanted);
        return skipped === undefined ? [] : [{ host: seen.host, skipped }];
      }),
    ],
  };
}

/** The fresh hosts among those with pending changes: `up` is about to change them for the first time. */
export const firstChanged = ({ connected }: Run, changed: ReadonlySet<string>): readonly Seen[] =>
  observedLinux(connected.observations.fleet()).filter((seen) => isFresh(seen) && changed.has(seen.host.name));
