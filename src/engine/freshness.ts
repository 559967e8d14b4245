/** One thing that was observed: a fact of a host (`HOST/FACT`), or the cluster. */
export type Reading = `${string}/${string}`;

/** The cluster as a reading, without the parts below. */
export const CLUSTER: Reading = '/cluster';

/** A part of the cluster that is observed only while it is read. */
export const clusterPart = (part: string): Reading => `/${part}`;

/** True for the cluster and for a part of it. */
export const isOfCluster = (one: Reading): boolean => one.startsWith('/');

export const reading = (host: string, fact: string): Reading => `${host}/${fact}`;

/** The host and the fact of a reading. */
export function partsOf(one: Reading): readonly [host: string, fact: string] {
  const slash = one.indexOf('/');
  return [one.slice(0, slash), one.slice(slash + 1)];
}

/** A reading stays fresh for this time when everything older expires, in ms. */
const FRESH_MS = 3000;

/** When an observation began. `moment` counts expiries: a reading is stale after a later expiry of its host. */
interface Beginning {
  readonly moment: number;
  readonly atMs: number;
}

/** When each reading was taken, and which ones are stale. Everything is fresh at first. */
export class Freshness {
  readonly #nowMs: () => number;
  readonly #taken = new Map<Reading, Beginning>();
  readonly #expired = new Map<string, number>();
  #moment = 0;
  #allExpired = 0;
  #clusterExpired = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** To be called before an observation: it may miss what changes while it lasts. */
  begin(): Beginning {
    return { moment: this.#moment, atMs: this.#nowMs() };
  }

  take(one: Reading, beginning: Beginning): void {
    this.#taken.set(one, beginning);
  }

  isStale(one: Reading): boolean {
    const expired = isOfCluster(one) ? this.#clusterExpired : (this.#expired.get(partsOf(one)[0]) ?? 0);
    return (this.#taken.get(one)?.moment ?? 0) < Math.max(this.#allExpired, expired);
  }

  expire(hosts: readonly string[]): void {
    this.#moment++;
    for (const host of hosts) this.#expired.set(host, this.#moment);
  }

  expireCluster(): void {
    this.#clusterExpired = ++this.#moment;
  }

  expireAll(): void {
    this.#allExpired = ++this.#moment;
  }

  expireOld(): void {
    this.#keepingFresh(() => this.expireAll());
  }

  /** The cluster, and these hosts, as far as they were not observed within the last three seconds. */
  expireOldOf(hosts: readonly string[]): void {
    this.#keepingFresh(() => {
      this.expire(hosts);
      this.expireCluster();
    });
  }

  #keepingFresh(expire: () => void): void {
    const fresh = [...this.#taken].filter(([one, { atMs }]) => !this.isStale(one) && this.#nowMs() - atMs <= FRESH_MS);
    expire();
    for (const [one, { atMs }] of fresh) this.take(one, { moment: this.#moment, atMs });
  }
}
