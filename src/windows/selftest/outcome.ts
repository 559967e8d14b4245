/**
 * Result of one flow. `limit`: Windows does not support it (documented). `not-tried`: the cluster lacks what the flow
 * needs.
 */
export type Outcome =
  { readonly result: 'pass' } | { readonly result: 'fail' | 'limit' | 'not-tried'; readonly why: string };

/** One row of the selftest's report. */
export type Row = Outcome & {
  /** The tested group, e.g. `windows 10.0.20348`. */
  readonly about: string;
  /** Title of the flow. */
  readonly flow: string;
};

export const pass: Outcome = { result: 'pass' };

export const fail = (why: string): Outcome => ({ result: 'fail', why });
export const limit = (why: string): Outcome => ({ result: 'limit', why });
export const notTried = (why: string): Outcome => ({ result: 'not-tried', why });
