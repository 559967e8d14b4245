/** Puts what overlaps in time into lanes below each other: the first lane that is free. In the order of their beginning. */
export function lanesOf(spans: readonly { readonly fromMs: number; readonly toMs: number }[]): {
  readonly lanes: readonly number[];
  readonly count: number;
} {
  const freeAt: number[] = [];
  const lanes = spans.map(({ fromMs, toMs }) => {
    const found = freeAt.findIndex((ms) => ms <= fromMs);
    const lane = found === -1 ? freeAt.length : found;
    freeAt[lane] = toMs;
    return lane;
  });
  return { lanes, count: Math.max(1, freeAt.length) };
}
