/** The list in pieces of at most `size`, in its order. */
export const inBatches = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  list.length === 0 ? [] : [list.slice(0, size), ...inBatches(list.slice(size), size)];
