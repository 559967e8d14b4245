const SHORT = 500;
const TIMES = 32;

/** Milliseconds of this process's own time: other processes of the machine do not count. */
export function cpuMs(act: () => unknown): number {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * True if a text that is 32 times as long takes at most 32 × 8 times as long, in the best of three attempts: quadratic work would take
 * 1,024 times. The short text is measured 20 times at once, because the clock is coarse.
 */
export function hasLinearTime(make: (length: number) => string, work: (text: string) => unknown): boolean {
  const [short, long] = [make(SHORT), make(SHORT * TIMES)];
  const shortMs = cpuMs(() => {
    for (let i = 0; i < 20; i++) work(short);
  });
  const mostMs = (shortMs / 20) * TIMES * 8 + 20;
  const isFast = (): boolean => cpuMs(() => work(long)) < mostMs;
  return isFast() || isFast() || isFast();
}
