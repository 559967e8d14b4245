/** Random choices that a seed determines (mulberry32). */
export interface Random {
  /** 0 ≤ x < 1 */
  readonly next: () => number;
  /** 0 ≤ x < `below`, whole. */
  readonly below: (below: number) => number;
  readonly pick: <T>(all: readonly T[]) => T;
  readonly chance: (share: number) => boolean;
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { next, below, pick: (all) => all[below(all.length)]!, chance: (share) => next() < share };
}

/** What a fuzz run found: a line for each crash, each hang and each output that breaks a promise; empty if all is well. */
export interface Fuzzed {
  readonly runs: number;
  /** How many ended in which way. */
  readonly ends: Readonly<Record<string, number>>;
  readonly slowestMs: number;
  readonly faults: readonly string[];
}

/** Longer than this, in ms, counts as a hang: the slowest run takes a tenth of it. */
const HANG_MS = 20_000;

/** Does `runs` runs, each with its own seed, and collects how they ended. */
export async function fuzz(
  runs: number,
  seed: number,
  run: (random: Random, report: (fault: string) => void) => Promise<string>,
): Promise<Fuzzed> {
  const ends: Record<string, number> = {};
  const faults: string[] = [];
  let slowestMs = 0;
  for (let i = 0; i < runs; i++) {
    const report = (fault: string): void => void faults.push(`seed ${String(seed + i)}: ${fault}`);
    const began = process.cpuUsage();
    const end = await run(randomOf(seed + i), report).catch((error: unknown) => {
      report(error instanceof Error ? (error.stack ?? error.message) : String(error));
      return 'crash';
    });
    const { user, system } = process.cpuUsage(began);
    const ms = (user + system) / 1000;
    if (ms > HANG_MS) report(`took ${String(Math.round(ms))} ms`);
    slowestMs = Math.max(slowestMs, Math.round(ms));
    ends[end] = (ends[end] ?? 0) + 1;
  }
  return { runs, ends, slowestMs, faults };
}
