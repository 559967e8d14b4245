/** How changes go from worker to worker. A control plane always changes alone. */
export interface Rollout {
  /** How many workers may be away at once: a number, or a share of them in percent, rounded down. At least one always is. */
  readonly maxUnavailable: { readonly workers: number } | { readonly percent: number };
  /** How long the drain of a node may take, in ms. */
  readonly drainTimeoutMs: number;
  /** How long a run waits after a batch of workers before it changes the next one, in ms; 0: not at all. */
  readonly pauseMs: number;
}
