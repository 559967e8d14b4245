/** What came of one flow. `limit`: Windows cannot do it, by documentation. `not-tried`: the cluster has nothing to try it with. */
export type Outcome =
  { readonly result: 'pass' } | { readonly result: 'fail' | 'limit' | 'not-tried'; readonly why: string };

/** One line of the selftest's table. */
export type Row = Outcome & {
  /** The build or system that it is about, e.g. `windows 10.0.20348`. */
  readonly about: string;
  /** What was tried, in plain English. */
  readonly flow: string;
};

/** What the flow promises, kept. */
export const pass: Outcome = { result: 'pass' };

export const fail = (why: string): Outcome => ({ result: 'fail', why });
export const limit = (why: string): Outcome => ({ result: 'limit', why });
export const notTried = (why: string): Outcome => ({ result: 'not-tried', why });
