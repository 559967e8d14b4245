/** Seconds that test files of the lab took, each with the load of the two cores and the day. Files that are not here have not been timed since. */
export const TIMES: Readonly<
  Record<string, { readonly seconds: number; readonly load: string; readonly day: string }>
> = {};
