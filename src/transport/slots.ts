/** A limited number of places, taken in the order of asking. */
export interface Slots {
  /** Waits for a place; call the result once to give it back. */
  take(): Promise<() => void>;
  /** Settles when the next place is given back. */
  nextFreed(): Promise<void>;
}

/** So many places, all free. */
export function slots(places: number): Slots {
  let free = places;
  const waiting: (() => void)[] = [];
  let watching: (() => void)[] = [];

  const giveBack = () => {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
    const told = watching;
    watching = [];
    for (const tell of told) tell();
  };

  return {
    async take() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      let given = false;
      return () => {
        if (!given) giveBack();
        given = true;
      };
    },
    nextFreed: () => new Promise((resolve) => watching.push(resolve)),
  };
}
