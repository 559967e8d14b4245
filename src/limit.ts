/** A limited number of places, given in the order of asking. */
export interface Limiter {
  /** Waits for a place; call the result to give the place back. Further calls do nothing. */
  readonly take: () => Promise<() => void>;
  /** Does the work in a place. */
  readonly run: <R>(work: () => Promise<R>) => Promise<R>;
  /** Settles when the next place is given back. */
  readonly nextFreed: () => Promise<void>;
}

/** A limiter with so many places, all of them free. */
export function limiter(places: number): Limiter {
  let free = places;
  const waiting: (() => void)[] = [];
  const watching: (() => void)[] = [];

  const giveBack = (): void => {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
    for (const notify of watching.splice(0)) notify();
  };
  const take = async (): Promise<() => void> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    let isTaken = true;
    return () => {
      if (isTaken) giveBack();
      isTaken = false;
    };
  };
  return {
    take,
    async run(work) {
      const done = await take();
      try {
        return await work();
      } finally {
        done();
      }
    },
    nextFreed: () => new Promise((resolve) => watching.push(resolve)),
  };
}

/**
 * Runs `work` on every item, at most `limit` at once, and waits for all of them. Never rejects; results are in order.
 */
export function eachLimit<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<readonly PromiseSettledResult<R>[]> {
  const { run } = limiter(limit);
  return Promise.allSettled(items.map((item) => run(() => work(item))));
}
