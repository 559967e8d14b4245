import { randomBytes } from 'node:crypto';
import { ownCommands, type Told } from '../cluster/fleet/channel.ts';
import { firstChannels } from '../cluster/fleet/first-channels.ts';
import type { Observed } from '../cluster/fleet/fleet.ts';
import type { Forward } from '../cluster/fleet/https-peer.ts';
import type { LinuxFacts } from '../cluster/fleet/linux.ts';
import { clusterFacts, observeCluster } from '../cluster/fleet/observe-cluster.ts';
import { type Ask, observeLinux, type WantedFacts } from '../cluster/fleet/observe-linux.ts';
import type { ClusterPart, ClusterView } from '../cluster/fleet/view.ts';
import { watchedOn } from '../commands/every.phases.ts';
import { observedObjects } from '../commands/objects.phases.ts';
import { controlPlanes, inventoryOn } from '../inventory/hosts.ts';
import type { Host, Inventory, LinuxHost, WindowsHost } from '../inventory/inventory.ts';
import type { LinuxRemote } from '../ssh/linux.ts';
import { type HostRemote, isWindowsRemote } from '../ssh/windows.ts';

/** Whether another run has changed the cluster between two looks at a host: it held the host's lock. */
export const LOCK_USED = 'lockUsed' satisfies keyof LinuxFacts;

/** The facts that decide where the cluster is observed. A run that takes the lock later may change all behind it. */
export const DECIDING: readonly (keyof LinuxFacts)[] = [LOCK_USED, ...clusterFacts];

/** The same, and what a status shows before all hosts have told the rest. */
export const SHOWN_FIRST: readonly (keyof LinuxFacts)[] = [...DECIDING, 'certificates'];

/** Observes hosts over their connections, and the cluster through its control planes. */
export interface Observer {
  /** All facts of a host, or those that are wanted; of a Windows host only by their names. */
  readonly host: (host: Host, wanted?: WantedFacts) => Promise<Observed>;
  /** The cluster, through the first of these hosts that answers, with these of its parts; default: all. */
  readonly cluster: (hosts: readonly Observed[], parts?: readonly ClusterPart[]) => Promise<ClusterView>;
}

/** How Linux hosts are reached over the connections so far. */
function linuxRemotes(remotes: ReadonlyMap<string, HostRemote>) {
  const linuxRemote = ({ name }: LinuxHost): LinuxRemote => {
    const remote = remotes.get(name)!;
    if (isWindowsRemote(remote)) throw new TypeError(`${name} is a Windows host`);
    return remote;
  };
  const ask =
    (host: LinuxHost): Ask =>
    (command) =>
      linuxRemote(host).ask(command);
  const forward =
    (host: LinuxHost): Forward =>
    (address, port) =>
      linuxRemote(host).forward(address, port);
  return { linuxRemote, ask, forward };
}

/** `remotes`: the connections so far, by host. */
export function observerOf(
  inventory: Inventory,
  remotes: ReadonlyMap<string, HostRemote>,
  nowMs: () => number,
): Observer {
  const tools = { nowMs, nonce: () => randomBytes(12).toString('hex') };
  const { linuxRemote, ask, forward } = linuxRemotes(remotes);
  const objects = observedObjects(inventory);
  // This reads the steps of all phases, so it is done while the hosts answer, and not before the first is dialled.
  let declared: ReturnType<typeof watchedOn> | undefined;
  const watched = (host: Host) => (declared ??= watchedOn(inventory))(host);

  const windows = async (host: WindowsHost, names?: readonly string[]): Promise<Observed> => {
    const remote = remotes.get(host.name)!;
    if (!isWindowsRemote(remote)) throw new TypeError(`${host.name} is a Linux host`);
    const subject = { inventory, host, watched: watched(host) };
    // Most clusters have no Windows host: its probes are not loaded for them.
    const { observeWindows } = await import('../cluster/fleet/observe-windows.ts');
    const facts = await observeWindows((...asked) => remote.ask(...asked), subject, tools, names);
    return { os: 'windows', host, facts };
  };
  // What the first control plane tells of itself beside the deciding facts, until the cluster is observed, and the
  // channels that are opened meanwhile.
  const own = new Map<string, Told>();
  const channels = firstChannels(inventory, forward);
  const [first] = controlPlanes(inventory);
  const ownOf = { cluster: true, etcd: inventory.etcd.topology === 'stacked' };
  const linux = async (host: LinuxHost, wanted?: WantedFacts): Promise<Observed> => {
    const { loginMs } = linuxRemote(host).transport;
    const told = (answers: Told): void => void own.set(host.name, answers);
    const isFirst = (wanted === DECIDING || wanted === SHOWN_FIRST) && host === first;
    const beside = isFirst ? { commands: ownCommands(ownOf), told } : undefined;
    const subject = { inventory: inventoryOn(inventory, host), host, watched: watched(host) };
    const facts = observeLinux(ask(host), subject, { ...tools, loginMs, beside }, wanted);
    if (isFirst) channels.open(host);
    return { os: 'linux', host, facts: await facts };
  };
  return {
    host: (host, wanted) => (host.os === 'windows' ? windows(host, wanted as string[]) : linux(host, wanted)),
    cluster: async (hosts, parts) => {
      const before = new Map(own);
      own.clear();
      const told = ({ name }: LinuxHost): Told | undefined => before.get(name);
      const first = channels.taken();
      try {
        const reach = { ...tools, forward: first.forward, told };
        return await observeCluster(inventory, hosts, ask, objects, reach, parts);
      } finally {
        first.end();
      }
    },
  };
}
