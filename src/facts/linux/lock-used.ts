import { paths } from '../../paths.ts';
import { script } from '../../templates.ts';
import { lineOf, probe } from '../../shell/probe.ts';

/**
 * When the host's lock was last taken or released, as its file's time (s, with nanoseconds). `held`: a process holds it.
 * `never`: not locked since boot. If two observations return the same time, no run held the lock in between.
 */
export const lockUsed = probe(script('linux/probe-lock-used.sh', { LOCK: paths.lock }), lineOf);
