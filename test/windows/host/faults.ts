/** Something that a host is asked for. */
export interface Asked {
  readonly kind: 'script' | 'job' | 'put' | 'get';
  /** The script's name, or the path. */
  readonly name: string;
  /** How often this was asked for before. */
  readonly count: number;
}

/**
 * What goes wrong: `lost` before it begins, `lost-after` it was done and before the caller has the answer, `fails` with a message,
 * `killed` halfway (a job: as by Stop-ScheduledTask), `restart` of the machine just then, `truncated` (a file arrives cut
 * short), `disk-full`, `hangs` (it begins and never ends), `ends-1` (without a word), `null` (as its result), `utf-16` (what it
 * prints).
 */
export type Fault =
  | 'lost'
  | 'lost-after'
  | 'fails'
  | 'killed'
  | 'restart'
  | 'truncated'
  | 'disk-full'
  | 'hangs'
  | 'ends-1'
  | 'null'
  | 'utf-16';

/** Decides about each thing that is asked for. */
export type Faults = (asked: Asked) => Fault | undefined;

/** Numbers that look random and are the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
