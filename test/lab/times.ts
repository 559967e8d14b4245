/** Seconds that test files of the lab took, each with the load of the two cores and the day. Files that are not here have not been timed since. */
export const TIMES: Readonly<
  Record<string, { readonly seconds: number; readonly load: string; readonly day: string }>
> = {
  'core/life.test.ts': { seconds: 383, load: '6–35', day: '2026-11-27' },
  'core/upgrade.test.ts': { seconds: 656, load: '25–60', day: '2026-11-27' },
  'core/windows.test.ts': { seconds: 123, load: '6–35', day: '2026-11-27' },
};
