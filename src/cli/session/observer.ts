import { randomBytes } from 'node:crypto';
import type { ClusterView, ClusterPart } from '../../facts/cluster.ts';
import type { Observed } from '../../facts/fleet.ts';
import { observeCluster } from '../../facts/observe-cluster.ts';
import { observeLinux, type Ask } from '../../facts/observe-linux.ts';
import { inventoryOn } from '../../model/inventory-on.ts';
import type { Host, Inventory, LinuxHost, WindowsHost } from '../../model/inventory.ts';
import { watchedOn } from '../../phases/watched.ts';
import { observedObjects } from '../../phases/wanted-objects.ts';
import { isWindowsRemote, type HostRemote } from '../../remote/host-remote.ts';
import type { LinuxRemote } from '../../remote/linux.ts';

/** Observes hosts over their connections, and the cluster through its control planes. */
export interface Observer {
  /** All facts of a host, or only those of these names. */
  readonly host: (host: Host, names?: readonly string[]) => Promise<Observed>;
  /** The cluster, through the first of these hosts that answers, with these of its parts; default: all. */
  readonly cluster: (hosts: readonly Observed[], parts?: readonly ClusterPart[]) => Promise<ClusterView>;
}

/** `remotes`: the connections so far, by host. */
export function observerOf(
  inventory: Inventory,
  remotes: ReadonlyMap<string, HostRemote>,
  nowMs: () => number,
): Observer {
  const tools = { nowMs, nonce: () => randomBytes(12).toString('hex') };
  const linuxRemote = ({ name }: LinuxHost): LinuxRemote => {
    const remote = remotes.get(name)!;
    if (isWindowsRemote(remote)) throw new TypeError(`${name} is a Windows host`);
    return remote;
  };
  const ask =
    (host: LinuxHost): Ask =>
    (command) =>
      linuxRemote(host).ask(command);
  const objects = observedObjects(inventory);
  // This reads the steps of all phases, so it is done while the hosts answer, and not before the first is dialled.
  let declared: ReturnType<typeof watchedOn> | undefined;
  const watched = (host: Host) => (declared ??= watchedOn(inventory))(host);

  const windows = async (host: WindowsHost, names?: readonly string[]): Promise<Observed> => {
    const remote = remotes.get(host.name)!;
    if (!isWindowsRemote(remote)) throw new TypeError(`${host.name} is a Linux host`);
    const subject = { inventory, host, watched: watched(host) };
    // Most clusters have no Windows host: its probes are not loaded for them.
    const { observeWindows } = await import('./windows-hosts.ts');
    const facts = await observeWindows((...asked) => remote.ask(...asked), subject, tools, names);
    return { os: 'windows', host, facts };
  };
  const linux = async (host: LinuxHost, names?: readonly string[]): Promise<Observed> => {
    const { loginMs } = linuxRemote(host).transport;
    const subject = { inventory: inventoryOn(inventory, host), host, watched: watched(host) };
    return { os: 'linux', host, facts: await observeLinux(ask(host), subject, { ...tools, loginMs }, names) };
  };
  return {
    host: (host, names) => (host.os === 'windows' ? windows(host, names) : linux(host, names)),
    cluster: (hosts, parts) => observeCluster(inventory, hosts, ask, objects, tools, parts),
  };
}
