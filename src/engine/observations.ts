import type { Fleet, Observed } from '../cluster/fleet/fleet.ts';
import {
  ALL_CLUSTER_PARTS,
  CLUSTER_PARTS,
  type ClusterPart,
  clusterPartOf,
  type ClusterView,
  PARTS_FOR_CHANGES,
} from '../cluster/fleet/view.ts';
import type { Host } from '../inventory/inventory.ts';
import { CLUSTER, clusterPart, Freshness, isOfCluster, partsOf, reading, type Reading } from './freshness.ts';

/** How hosts and the cluster are observed again. */
interface Observers {
  /** The named facts of a host, as they are now. */
  readonly facts: (host: Host, names: readonly string[]) => Promise<object>;
  /** The cluster as it is now, found by `clusterFacts` of these hosts, with these of its parts. */
  readonly cluster: (hosts: readonly Observed[], parts: readonly ClusterPart[]) => Promise<ClusterView>;
  /** The facts that tell which control planes can answer for the cluster. */
  readonly clusterFacts: readonly string[];
  readonly nowMs: () => number;
}

/**
 * The fleet as it is known now. It notes which facts a `diff` reads, so that after a change only those are observed
 * again: a fact that no step reads again costs nothing.
 */
export interface Observations {
  /** The fleet as it was observed last; reading it observes nothing. */
  readonly fleet: () => Fleet;
  /**
   * Calls a pure function of the fleet on facts no older than the last expiry of any fact that it reads. `sawCluster`:
   * the function read the cluster, so its result is about the cluster. `purpose`: `change` if what it returns will read
   * the fleet later, when a change is made: if it read the cluster, all parts that changes read are current then.
   */
  readonly evaluate: <R>(
    question: (fleet: Fleet) => R,
    purpose?: 'look' | 'change',
  ) => Promise<{ readonly value: R; readonly sawCluster: boolean }>;
  /** These hosts may have changed. */
  readonly expire: (hosts: readonly string[]) => void;
  /** The cluster may have changed. */
  readonly expireCluster: () => void;
  /** Everything may have changed. */
  readonly expireAll: () => void;
  /** Everything may have changed that was not observed within the last three seconds. */
  readonly expireOld: () => void;
  /** The same for the cluster and these hosts alone. */
  readonly expireOldOf: (hosts: readonly string[]) => void;
}

/** The fleet, with a note of what is read of it. */
class NotedFleet {
  readonly #unreachable: Fleet['unreachable'];
  readonly #observed: Map<string, Observed>;
  readonly #noting: Map<string, Observed>;
  cluster: ClusterView;
  /** What the running question has read. Questions are synchronous: only one runs at a time. */
  #read: Set<Reading> | undefined;

  constructor({ hosts, unreachable, cluster }: Fleet) {
    this.#unreachable = unreachable;
    this.cluster = cluster;
    this.#observed = new Map(hosts.map((one) => [one.host.name, one]));
    this.#noting = new Map(hosts.map((one) => [one.host.name, this.#note(one)]));
  }

  get hosts(): readonly Observed[] {
    return [...this.#observed.values()];
  }

  host(name: string): Host {
    return this.#observed.get(name)!.host;
  }

  /** Newer facts of a host replace those of the same name. */
  update(name: string, facts: object): void {
    const before = this.#observed.get(name)!;
    const mixed = Object.defineProperties(
      {},
      { ...Object.getOwnPropertyDescriptors(before.facts), ...Object.getOwnPropertyDescriptors(facts) },
    );
    const after = { ...before, facts: mixed } as Observed;
    this.#observed.set(name, after);
    this.#noting.set(name, this.#note(after));
  }

  /** A newer view of the cluster, with these of its parts: the others stay as they were observed before. */
  updateCluster(view: ClusterView, parts: readonly ClusterPart[]): void {
    const before = this.cluster;
    const old = Object.getOwnPropertyDescriptors(before) as Readonly<Record<string, PropertyDescriptor>>;
    const mixed = Object.defineProperties({}, Object.getOwnPropertyDescriptors(view));
    const areUp = before.state === 'up' && view.state === 'up';
    for (const field of ALL_CLUSTER_PARTS.filter((part) => !parts.includes(part)).flatMap(
      (part) => CLUSTER_PARTS[part],
    )) {
      const found = old[field];
      // An etcd on hosts of its own is there without the API.
      if (found !== undefined && (areUp || field === 'etcd')) Object.defineProperty(mixed, field, found);
    }
    this.cluster = mixed as ClusterView;
  }

  fleet(): Fleet {
    const get = (view: ClusterView, key: string | symbol): unknown => {
      const part = clusterPartOf(String(key));
      if (part !== undefined) this.#read?.add(clusterPart(part));
      return Reflect.get(view, key);
    };
    const cluster = (): ClusterView => {
      this.#read?.add(CLUSTER);
      return new Proxy(this.cluster, { get });
    };
    return {
      hosts: [...this.#noting.values()],
      unreachable: this.#unreachable,
      get cluster() {
        return cluster();
      },
    };
  }

  /** The answer to a question, which may be its error, and what it read. */
  ask<R>(question: (fleet: Fleet) => R): { readonly answer: () => R; readonly read: ReadonlySet<Reading> } {
    const read = new Set<Reading>();
    this.#read = read;
    try {
      const value = question(this.fleet());
      return { answer: () => value, read };
    } catch (error) {
      const answer = (): never => {
        throw error;
      };
      return { answer, read };
    } finally {
      this.#read = undefined;
    }
  }

  #note(observed: Observed): Observed {
    const get = (facts: object, key: string | symbol): unknown => {
      if (typeof key === 'string') this.#read?.add(reading(observed.host.name, key));
      return Reflect.get(facts, key);
    };
    return { ...observed, facts: new Proxy(observed.facts, { get }) as never };
  }
}

/** Runs work of one name at once, for all who want it since the same moment. */
function sharing() {
  const running = new Map<string, { readonly moment: number; readonly done: Promise<void> }>();
  return async (name: string, moment: number, work: () => Promise<void>): Promise<void> => {
    const same = running.get(name);
    if (same?.moment === moment) return same.done;
    const mine = { moment, done: work() };
    running.set(name, mine);
    await mine.done.finally(() => {
      if (running.get(name) === mine) running.delete(name);
    });
  };
}

/** Keeps the observations of a fleet current, from its first observation on. */
export function observations(first: Fleet, observers: Observers): Observations {
  const noted = new NotedFleet(first);
  const freshness = new Freshness(observers.nowMs);
  const once = sharing();

  const observeHost = async (name: string, facts: readonly string[]): Promise<void> => {
    const beginning = freshness.begin();
    noted.update(name, await observers.facts(noted.host(name), facts));
    for (const fact of facts) freshness.take(reading(name, fact), beginning);
  };

  const observeCluster = async (read: readonly ClusterPart[]): Promise<void> => {
    // The first view of a cluster is whole, so that what a change reads beside its diff is there.
    const parts = noted.cluster.state === 'up' ? read : [...new Set([...read, ...PARTS_FOR_CHANGES])];
    const beginning = freshness.begin();
    const needed = noted.hosts
      .filter(({ host }) => host.role === 'control-plane' || host.role === 'etcd')
      .flatMap(({ host }) => observers.clusterFacts.map((fact) => reading(host.name, fact)));
    await observe(needed.filter((one) => freshness.isStale(one)));
    noted.updateCluster(await observers.cluster(noted.hosts, parts), parts);
    for (const one of [CLUSTER, ...parts.map(clusterPart)]) freshness.take(one, beginning);
  };

  async function observe(stale: readonly Reading[]): Promise<void> {
    const { moment } = freshness.begin();
    const byHost = new Map<string, string[]>();
    for (const [host, fact] of stale.filter((one) => !isOfCluster(one)).map(partsOf))
      byHost.set(host, [...(byHost.get(host) ?? []), fact]);
    await Promise.all(
      [...byHost].map(([host, names]) => once(`${host}/${names.join('+')}`, moment, () => observeHost(host, names))),
    );
    if (!stale.some(isOfCluster)) return;
    const parts = ALL_CLUSTER_PARTS.filter((part) => stale.includes(clusterPart(part)));
    await once([CLUSTER, ...parts].join('+'), freshness.begin().moment, () => observeCluster(parts));
  }

  return {
    fleet: () => noted.fleet(),
    evaluate: async (question, purpose = 'look') => {
      for (;;) {
        const { answer, read } = noted.ask(question);
        const later = purpose === 'change' && read.has(CLUSTER) ? PARTS_FOR_CHANGES.map(clusterPart) : [];
        const stale = [...new Set([...read, ...later])].filter((one) => freshness.isStale(one));
        if (stale.length === 0) return { value: answer(), sawCluster: read.has(CLUSTER) };
        await observe(stale);
      }
    },
    expire: (hosts) => freshness.expire(hosts),
    expireCluster: () => freshness.expireCluster(),
    expireAll: () => freshness.expireAll(),
    expireOld: () => freshness.expireOld(),
    expireOldOf: (hosts) => freshness.expireOldOf(hosts),
  };
}
