import type { ClusterView } from '../facts/cluster.ts';
import type { Fleet, Observed } from '../facts/fleet.ts';
import type { Host } from '../model/inventory.ts';

/** How to look again. */
export interface Eyes {
  /** The named facts of a host, as they are now. */
  readonly facts: (host: Host, names: readonly string[]) => Promise<object>;
  /** The cluster as it is now, found by `clusterFacts` of these hosts. */
  readonly cluster: (hosts: readonly Observed[]) => Promise<ClusterView>;
  /** The facts that tell on which control planes a cluster can be asked for. */
  readonly clusterFacts: readonly string[];
  readonly nowMs: () => number;
}

/** What was seen within these ms counts as seen immediately before. */
const FRESH_MS = 3000;

/**
 * The fleet as it is known now. It notes which facts a `diff` reads, so that after a change only those are observed
 * anew: a fact that nobody reads again costs nothing.
 */
export interface Watch {
  /** The fleet as last seen; reading it refreshes nothing. */
  readonly fleet: () => Fleet;
  /**
   * Calls a pure function of the fleet on facts no older than the last expiry of any fact it reads. `sawCluster` tells
   * whether it looked at the cluster: only what looks at the cluster is about the cluster.
   */
  readonly evaluate: <R>(question: (fleet: Fleet) => R) => Promise<{ readonly value: R; readonly sawCluster: boolean }>;
  /** These hosts may have changed. */
  readonly expire: (hosts: readonly string[]) => void;
  /** The cluster may have changed. */
  readonly expireCluster: () => void;
  /** Nothing known counts any more. */
  readonly expireAll: () => void;
  /** Only what was looked at within the last three seconds, and has not expired since, still counts. */
  readonly expireOld: () => void;
}

type Reading = `${string}/${string}`;
const CLUSTER: Reading = '/cluster';
const reading = (host: string, fact: string): Reading => `${host}/${fact}`;
const parts = (one: Reading): readonly [host: string, fact: string] => {
  const slash = one.indexOf('/');
  return [one.slice(0, slash), one.slice(slash + 1)];
};

/** Watches a fleet, starting from what was seen. */
export function watch(first: Fleet, eyes: Eyes): Watch {
  const known = new Map(first.hosts.map((observed) => [observed.host.name, observed]));
  let cluster = first.cluster;
  /** Counts expiries; a reading taken before its host's last expiry is stale. */
  let moment = 0;
  let allExpired = 0;
  let clusterExpired = 0;
  const expired = new Map<string, number>();
  const taken = new Map<Reading, { readonly moment: number; readonly atMs: number }>();
  /** What the running `diff` has read; diffs are synchronous, so there is only one. */
  let noted: Set<Reading> | undefined;
  const inFlight = new Map<string, { readonly since: number; readonly done: Promise<void> }>();

  const isStale = (one: Reading): boolean =>
    (taken.get(one)?.moment ?? 0) <
    Math.max(allExpired, one === CLUSTER ? clusterExpired : (expired.get(parts(one)[0]) ?? 0));

  const noting = (observed: Observed): Observed => ({
    ...observed,
    facts: new Proxy(observed.facts, {
      get: (facts, key) => {
        if (typeof key === 'string') noted?.add(reading(observed.host.name, key));
        return Reflect.get(facts, key) as unknown;
      },
    }) as never,
  });
  const noters = new Map([...known].map(([name, observed]) => [name, noting(observed)]));

  const fleet = (): Fleet => ({
    hosts: [...noters.values()],
    unreachable: first.unreachable,
    get cluster() {
      noted?.add(CLUSTER);
      return cluster;
    },
  });

  /** Looks unless the same look began after the last expiry; then waits for that one. */
  const look = async (what: string, work: () => Promise<void>): Promise<void> => {
    const running = inFlight.get(what);
    if (running?.since === moment) return running.done;
    const done = work();
    const mine = { since: moment, done };
    inFlight.set(what, mine);
    await done.finally(() => {
      if (inFlight.get(what) === mine) inFlight.delete(what);
    });
  };

  const refreshHost = async (name: string, facts: readonly string[]): Promise<void> => {
    const at = { moment, atMs: eyes.nowMs() };
    const fresh = await eyes.facts(known.get(name)!.host, facts);
    const before = known.get(name)!;
    const mixed = Object.defineProperties(
      {},
      { ...Object.getOwnPropertyDescriptors(before.facts), ...Object.getOwnPropertyDescriptors(fresh) },
    );
    const after = { ...before, facts: mixed } as Observed;
    known.set(name, after);
    noters.set(name, noting(after));
    for (const fact of facts) taken.set(reading(name, fact), at);
  };

  const refreshCluster = async (): Promise<void> => {
    const at = { moment, atMs: eyes.nowMs() };
    const needed = [...known.values()]
      .filter(({ host }) => host.role === 'control-plane' || host.role === 'etcd')
      .flatMap(({ host }) => eyes.clusterFacts.map((fact) => reading(host.name, fact)));
    await refresh(needed.filter(isStale));
    cluster = await eyes.cluster([...known.values()]);
    taken.set(CLUSTER, at);
  };

  async function refresh(stale: readonly Reading[]): Promise<void> {
    const byHost = new Map<string, string[]>();
    for (const [host, fact] of stale.filter((one) => one !== CLUSTER).map(parts)) {
      byHost.set(host, [...(byHost.get(host) ?? []), fact]);
    }
    await Promise.all(
      [...byHost].map(([host, names]) => look(`${host}/${names.join('+')}`, () => refreshHost(host, names))),
    );
    if (stale.includes(CLUSTER)) await look(CLUSTER, refreshCluster);
  }

  return {
    fleet,
    evaluate: async (question) => {
      for (;;) {
        const read = new Set<Reading>();
        noted = read;
        let answer: (() => ReturnType<typeof question>) | undefined;
        try {
          const value = question(fleet());
          answer = () => value;
        } catch (error) {
          answer = () => {
            throw error;
          };
        } finally {
          noted = undefined;
        }
        const stale = [...read].filter(isStale);
        if (stale.length === 0) return { value: answer(), sawCluster: read.has(CLUSTER) };
        await refresh(stale);
      }
    },
    expire: (hosts) => {
      moment++;
      for (const host of hosts) expired.set(host, moment);
    },
    expireCluster: () => {
      clusterExpired = ++moment;
    },
    expireAll: () => {
      allExpired = ++moment;
    },
    expireOld: () => {
      const fresh = [...taken].filter(([one, { atMs }]) => !isStale(one) && eyes.nowMs() - atMs <= FRESH_MS);
      allExpired = ++moment;
      for (const [one, { atMs }] of fresh) taken.set(one, { moment, atMs });
    },
  };
}
