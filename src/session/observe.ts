import type { Fleet, Observed } from '../cluster/fleet/fleet.ts';
import type { ClusterView } from '../cluster/fleet/view.ts';
import type { Emit } from '../engine/event.ts';
import { exitCodeOf } from '../errors.ts';
import type { Host } from '../inventory/inventory.ts';
import { eachLimit } from '../limit.ts';
import { DECIDING, LOCK_USED, type Observer, SHOWN_FIRST } from './observer.ts';

/** When the hosts that have not answered are named, in ms after the observation began. */
const TIMES_MS: readonly number[] = [2_000, 5_000, 10_000];
/** From the last of these times on. */
const EVERY_MS = 10_000;

/** Names the hosts that are waited for: silence of a minute looks like a program that hangs. */
interface AwaitedHosts {
  /** A host was observed. */
  readonly answered: (host: Host) => void;
  /** The observation of a host has ended, with or without an answer. */
  readonly ended: (host: Host) => void;
  readonly stop: () => void;
}

/** Emits `hosts-awaited` 2, 5 and 10 s after an observation of these hosts began, then every 10 s, until `stop`. */
export function awaitedHosts(hosts: readonly Host[], emit: Emit, nowMs: () => number): AwaitedHosts {
  const startedMs = nowMs();
  // They are observed in this order: those that stand first are the slowest.
  const waiting = new Set(hosts.map(({ name }) => name));
  let answers = 0;
  let timer: NodeJS.Timeout | undefined;
  const wait = (turn: number): void => {
    const atMs = TIMES_MS[turn] ?? TIMES_MS.at(-1)! + (turn - TIMES_MS.length + 1) * EVERY_MS;
    timer = setTimeout(
      () => {
        emit({
          kind: 'hosts-awaited',
          hosts: hosts.length,
          answered: answers,
          waiting: [...waiting],
          waitedMs: nowMs() - startedMs,
        });
        wait(turn + 1);
      },
      Math.max(0, startedMs + atMs - nowMs()),
    ).unref();
  };
  if (hosts.length > 0) wait(0);
  return {
    answered: () => void (answers += 1),
    ended: ({ name }) => void waiting.delete(name),
    stop: () => clearTimeout(timer),
  };
}

/**
 * What decides where the cluster is observed, and whether a view of it is as new as these facts, as text to compare;
 * undefined if something of it is unknown.
 */
function ways(hosts: readonly Observed[]): string | undefined {
  try {
    return hosts
      .flatMap((one) =>
        one.os === 'linux' && (one.host.role === 'control-plane' || one.host.role === 'etcd')
          ? [`${one.host.name}: ${one.facts[LOCK_USED]} ${[...one.facts.kubernetesTraces].sort().join(' ')}`]
          : [],
      )
      .join('\n');
  } catch {
    return undefined;
  }
}

/**
 * Observes the cluster at the same time as its hosts, through the control planes that are known before the hosts have
 * told all; again if the hosts' new facts lead to others, or if a run held their locks meanwhile. Rejects as `hosts`
 * does.
 */
export async function clusterBeside(
  cluster: (hosts: readonly Observed[]) => Promise<ClusterView>,
  known: readonly Observed[] | Promise<readonly Observed[]>,
  hosts: Promise<readonly Observed[]>,
): Promise<ClusterView> {
  const begin = (early: readonly Observed[]) => {
    const before = ways(early);
    return before === undefined ? undefined : { before, view: cluster(early) };
  };
  const beginning = known instanceof Promise ? known.then(begin) : begin(known);
  const seen = await hosts;
  const early = await beginning;
  return early !== undefined && early.before === ways(seen) ? early.view : cluster(seen);
}

/** The cluster as it is seen before all hosts have answered. */
export interface SeenFirst {
  readonly view: ClusterView;
  /** Hosts of the control plane that have told their certificates. */
  readonly hosts: readonly Observed[];
}

/** How all hosts are observed once. */
export interface Round {
  readonly hosts: readonly Host[];
  /** Connects to a host, or rejects with the reason why it cannot be reached. */
  readonly reach: (host: Host) => Promise<unknown>;
  readonly observer: Observer;
  /** What was known of the hosts before; `nothing`: those that decide where the cluster is observed tell it first. */
  readonly known: readonly Observed[] | 'nothing';
  /** Hosts at once. */
  readonly concurrency: number;
  readonly isDead: (host: Host) => boolean;
  /** False where the operator knows already that the host is missing. */
  readonly isNews: (host: Host) => boolean;
  /** Gets what is known while hosts may still be observed, and again if that was not the last view. */
  readonly onCluster?: ((seen: SeenFirst) => void) | undefined;
  readonly emit: Emit;
  readonly nowMs: () => number;
}

/**
 * Observes every host, many at once. A host that does not answer is in `unreachable`. @throws errors of kbuild itself
 */
async function observeHosts(round: Round): Promise<Omit<Fleet, 'cluster'>> {
  const { hosts, reach, observer, isDead, isNews, emit } = round;
  const observed: Observed[] = [];
  const unreachable: { host: Host; error: Error; isDead: boolean }[] = [];
  const awaited = awaitedHosts(hosts, emit, round.nowMs);
  const results = await eachLimit(hosts, round.concurrency, async (host): Promise<Observed> => {
    try {
      await reach(host);
      const seen = await observer.host(host);
      awaited.answered(host);
      return seen;
    } finally {
      awaited.ended(host);
    }
  });
  awaited.stop();
  results.forEach((result, index) => {
    if (result.status === 'fulfilled') return void observed.push(result.value);
    const error = result.reason as Error;
    if (exitCodeOf(error) === 1) throw error;
    const host = hosts[index]!;
    unreachable.push({ host, error, isDead: isDead(host) });
    if (isNews(host)) emit({ kind: 'unreachable', host: host.name, message: error.message });
  });
  return { hosts: observed, unreachable };
}

/**
 * The facts that decide where the cluster is observed, of the hosts that answer. They tell them beside all others, so
 * that the cluster is observed meanwhile.
 */
async function firstKnown({ hosts, reach, observer, onCluster }: Round): Promise<readonly Observed[]> {
  const deciding = hosts.filter(({ role }) => role === 'control-plane' || role === 'etcd');
  const told = await Promise.allSettled(
    deciding.map(async (host) => {
      await reach(host);
      return observer.host(host, onCluster === undefined ? DECIDING : SHOWN_FIRST);
    }),
  );
  return told.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

/** Reaches each host once, however many want it. */
function reachingOnce(reach: Round['reach']): Round['reach'] {
  const reached = new Map<string, Promise<unknown>>();
  return (host) => {
    const known = reached.get(host.name) ?? reach(host);
    reached.set(host.name, known);
    return known;
  };
}

/** Observes every host and the cluster. @throws errors of kbuild itself, never because a host does not answer */
export async function observeFleet(given: Round): Promise<Fleet> {
  const round = { ...given, reach: reachingOnce(given.reach) };
  const { observer, known, emit, nowMs } = round;
  const startedMs = nowMs();
  const observing = observeHosts(round);
  const cluster = await clusterBeside(
    async (told) => {
      const view = await observer.cluster(told);
      round.onCluster?.({ view, hosts: told });
      return view;
    },
    known === 'nothing' ? firstKnown(round) : known,
    observing.then(({ hosts }) => hosts),
  );
  const { hosts, unreachable } = await observing;
  emit({ kind: 'observed', hosts: hosts.length, durationMs: nowMs() - startedMs });
  return { hosts, unreachable, cluster };
}
