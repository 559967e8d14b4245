import type { Fleet } from '../cluster/fleet/fleet.ts';
import type { LinuxFacts } from '../cluster/fleet/linux.ts';
import { clusterFacts } from '../cluster/fleet/observe-cluster.ts';
import type { LeftOut } from '../cluster/joined.refusal.ts';
import { observations, type Observations } from '../engine/observations.ts';
import { ConnectError } from '../errors.ts';
import type { Host, Inventory, LinuxHost } from '../inventory/inventory.ts';
import type { LinuxRemote } from '../ssh/linux.ts';
import type { On } from '../ssh/remote.ts';
import type { HostRemote } from '../ssh/windows.ts';
import type { Context, RunLog } from './context.ts';
import { hostDialler } from './dialler.ts';
import { observeFleet, type Round } from './observe.ts';
import { observerOf } from './observer.ts';
import { DEFAULT_CONCURRENCY, type Flags } from './options.ts';

/** All hosts of an inventory that answered, observed once. */
export interface Connected {
  readonly inventory: Inventory;
  /** The fleet as it is known now. */
  readonly observations: Observations;
  readonly on: On;
  /** Dials a host that the run has no connection to, and does not observe it. @throws ConnectError */
  readonly dialled: (host: LinuxHost) => Promise<LinuxRemote>;
  /** Remotes of the hosts that were observed, sorted by name. */
  readonly remotes: readonly HostRemote[];
  /** When the last observation of all hosts began, in ms as `Context.nowMs` returns them. */
  readonly observedAtMs: number;
  /** Observes again the hosts that were observed before, no other host. Replaces `observations`. */
  readonly observeAgain: () => Promise<void>;
  /**
   * Observes all hosts of the inventory again. One that did not answer is dialled again meanwhile, and takes part as
   * soon as it answers. For commands that change nothing: there is no lock of it. Replaces `observations`.
   */
  readonly observeAll: () => Promise<void>;
  /**
   * From now on these hosts count as not reached: they are not observed, locked or changed. Replaces `observations`.
   */
  readonly leaveOut: (hosts: readonly LeftOut[]) => void;
  readonly close: () => Promise<void>;
}

/** What one observation of all hosts has in common with the next one. */
type Rounds = Omit<Round, 'reach' | 'known' | 'onCluster'>;

/** The connections of a run. */
interface Connections {
  readonly inventory: Inventory;
  readonly remotes: ReadonlyMap<string, HostRemote>;
  readonly rounds: Rounds;
  /** Dials a host. */
  readonly dial: (host: Host) => Promise<void>;
  /** Ends the connection of a host, if there is one. */
  readonly drop: (host: Host) => void;
  /** Names of hosts that the run leaves out. */
  readonly leftOut: Set<string>;
  readonly close: () => Promise<void>;
}

/**
 * Facts that take most of an observation's CPU, and that the status of a cluster does not read. Who asks through one
 * control plane wants an answer at once.
 */
export const NOT_THROUGH_ONE: readonly (keyof LinuxFacts)[] = [
  ...(['files', 'ownFiles', 'keyrings', 'brokenPackages', 'packageLocks', 'services', 'timeServices'] as const),
  ...(['swapUnits', 'images', 'storage', 'firewall', 'kubeChains', 'routes', 'lookups', 'resolver'] as const),
  ...(['proxyVariables', 'serviceNetwork'] as const),
];

/**
 * Observes control planes one after another until the cluster answers through one, and no other host.
 * @throws errors of kbuild itself, never because a host does not answer
 */
async function observeThroughOne(round: Round): Promise<Fleet> {
  const seen: Fleet[] = [];
  const observer: Round['observer'] = {
    ...round.observer,
    host: (host, wanted = { without: NOT_THROUGH_ONE }) => round.observer.host(host, wanted),
  };
  for (const host of round.hosts.filter(({ role }) => role === 'control-plane')) {
    const fleet = await observeFleet({ ...round, observer, hosts: [host] });
    seen.push(fleet);
    if (fleet.cluster.state === 'up') break;
  }
  const views = seen.map(({ cluster }) => cluster);
  return {
    hosts: seen.flatMap(({ hosts }) => hosts),
    unreachable: seen.flatMap(({ unreachable }) => unreachable),
    cluster: views.find(({ state }) => state === 'up') ?? views.find(({ state }) => state === 'down') ?? views[0]!,
  };
}

/**
 * Dials and observes every host, many at once; `one control plane`: one control plane after another, until the cluster
 * answers through one. A host that does not answer is in `fleet.unreachable`. `onCluster`: as in `Round`. @throws the
 * signal's reason
 */
export async function connect(
  context: Context,
  inventory: Inventory,
  flags: Flags,
  run: RunLog,
  reach: 'all hosts' | 'one control plane' = 'all hosts',
  onCluster?: Round['onCluster'],
): Promise<Connected> {
  const remotes = new Map<string, HostRemote>();
  const dialler = hostDialler(context, flags, run);
  const leftOut = new Set<string>();
  const rounds: Rounds = {
    hosts: inventory.hosts,
    observer: observerOf(inventory, remotes, context.nowMs),
    concurrency: flags.concurrency ?? DEFAULT_CONCURRENCY,
    isDead: ({ name }) => flags.dead?.includes(name) === true,
    isNews: ({ name }) => !run.signal.aborted && !leftOut.has(name),
    // A line in the middle of a question would hide it.
    emit: (event) => {
      if (event.kind !== 'hosts-awaited' || !dialler.isAsking()) run.emit(event);
    },
    nowMs: context.nowMs,
  };
  const dial = async (host: Host): Promise<void> => {
    remotes.set(host.name, await dialler.dial(host));
  };
  const drop = ({ name }: Host): void => {
    void remotes
      .get(name)
      ?.close()
      .catch(() => undefined);
    remotes.delete(name);
  };
  const close = async (): Promise<void> => {
    dialler.abort();
    await Promise.all([...remotes.values()].map((remote) => remote.close()));
    dialler.close();
  };
  const stop = (): void => {
    dialler.abort();
    void close();
  };
  if (reach === 'all hosts') run.emit({ kind: 'connecting', hosts: inventory.hosts.map(({ name }) => name) });
  run.signal.addEventListener('abort', stop);
  try {
    const observedAtMs = context.nowMs();
    const observe = reach === 'all hosts' ? observeFleet : observeThroughOne;
    const fleet = await observe({ ...rounds, reach: dial, known: 'nothing', onCluster });
    run.signal.throwIfAborted();
    return connectedTo({ inventory, remotes, rounds, dial, drop, leftOut, close }, fleet, observedAtMs);
  } catch (error) {
    // Open connections would keep the process alive after its error.
    await close();
    throw run.signal.aborted ? run.signal.reason : error;
  } finally {
    run.signal.removeEventListener('abort', stop);
  }
}

/** Dials a host that did not answer, without waiting: until it answers, its last error counts. */
function redialling({ dial }: Pick<Connections, 'dial'>): (host: Host, error: Error | undefined) => Promise<void> {
  const running = new Set<string>();
  const errors = new Map<string, Error>();
  return (host, error) => {
    const { name } = host;
    if (!running.has(name)) {
      running.add(name);
      dial(host)
        .catch((reason: unknown) => errors.set(name, reason as Error))
        .finally(() => running.delete(name));
    }
    return Promise.reject(errors.get(name) ?? error ?? new ConnectError(name, 'is dialled', { retryable: true }));
  };
}

/**
 * All hosts; those that are connected are observed again. A connection over which a host could not be observed is
 * ended.
 */
async function allObserved(
  { rounds, remotes, drop }: Connections,
  dialledAgain: ReturnType<typeof redialling>,
  before: Fleet,
): Promise<Fleet> {
  const connected = new Set(remotes.keys());
  const missing = new Map(before.unreachable.map(({ host, error }) => [host.name, error]));
  const reach = (host: Host): Promise<void> =>
    connected.has(host.name) ? Promise.resolve() : dialledAgain(host, missing.get(host.name));
  const fleet = await observeFleet({ ...rounds, emit: () => undefined, reach, known: before.hosts });
  for (const { host } of fleet.unreachable) if (connected.has(host.name)) drop(host);
  return fleet;
}

function connectedTo({ rounds, leftOut, ...connections }: Connections, first: Fleet, firstAtMs: number): Connected {
  const { inventory, remotes, close } = connections;
  const { observer, nowMs } = rounds;
  const watching = (fleet: Fleet): Observations =>
    observations(fleet, {
      facts: async (host, names) => (await observer.host(host, names)).facts,
      cluster: observer.cluster,
      clusterFacts,
      nowMs,
    });
  const dialledAgain = redialling(connections);
  let current = watching(first);
  let observedAtMs = firstAtMs;
  return {
    inventory,
    close,
    get observations() {
      return current;
    },
    get observedAtMs() {
      return observedAtMs;
    },
    on: (host) => {
      const remote = remotes.get(host.name);
      if (remote === undefined) throw new ConnectError(host.name, 'not connected', { retryable: false });
      return remote as never;
    },
    async dialled(host) {
      if (!remotes.has(host.name)) await connections.dial(host);
      return remotes.get(host.name) as LinuxRemote;
    },
    get remotes() {
      const observed = new Set(current.fleet().hosts.map(({ host }) => host.name));
      return [...remotes.values()]
        .filter(({ host }) => observed.has(host.name))
        .sort((a, b) => (a.host.name < b.host.name ? -1 : 1));
    },
    async observeAgain() {
      const { hosts: known, unreachable } = current.fleet();
      const missing = new Map(unreachable.map(({ host, error }) => [host.name, error]));
      // This run has no lock of a host that was missing before. The next run takes it.
      const reach = ({ name }: Host): Promise<void> => {
        const error = missing.get(name);
        return error === undefined ? Promise.resolve() : Promise.reject(error);
      };
      observedAtMs = nowMs();
      current = watching(await observeFleet({ ...rounds, reach, known }));
    },
    async observeAll() {
      observedAtMs = nowMs();
      current = watching(await allObserved({ rounds, leftOut, ...connections }, dialledAgain, current.fleet()));
    },
    leaveOut(refused) {
      for (const { host } of refused) leftOut.add(host.name);
      const { hosts, unreachable, cluster } = current.fleet();
      const kept = hosts.filter(({ host }) => !leftOut.has(host.name));
      current = watching({ hosts: kept, unreachable: [...unreachable, ...refused], cluster });
    },
  };
}
