import type { Emit } from '../engine/event.ts';
import type { Secret } from '../shell/secret.ts';

/** Where a run reports to. */
export interface RunLog {
  /** In the names of its files and units, e.g. `20261121t165045z-0a1b2c3d`. */
  readonly runId: string;
  readonly emit: Emit;
  readonly log: (entry: object) => void;
  /** Called for every command on a host when it begins. */
  readonly onBegin?: ((entry: { readonly host: string; readonly command: string }) => void) | undefined;
  /** Called for every secret that becomes known, so that no output shows it. */
  readonly onSecret: (secret: Secret) => void;
  /** Aborted by Ctrl-C, the run's deadline or a lost lock. */
  readonly signal: AbortSignal;
}
