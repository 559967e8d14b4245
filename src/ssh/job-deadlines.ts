import { ConnectError } from '../errors.ts';
import { retried, type Waiting } from '../wait.ts';

const MINUTE_MS = 60_000;

/** How long jobs may take, by name, in ms. Each took less than a tenth of it on hosts and networks that work. */
const DEADLINES_MS: Readonly<Record<string, number>> = {
  packages: 30 * MINUTE_MS,
  images: 30 * MINUTE_MS,
  'kubeadm-init': 20 * MINUTE_MS,
  'kubeadm-join': 20 * MINUTE_MS,
  'kubeadm-reset': 10 * MINUTE_MS,
  // One workload after another, in a cluster of any size.
  'restart-workloads': 6 * 60 * MINUTE_MS,
};

/** Jobs of other names: settings, certificates, members of etcd; those of settings may pull images. */
const OTHERS_MS = 30 * MINUTE_MS;

/** What an operator can do about a job that was ended at its deadline. */
export const LATE_REMEDY =
  'mend what it waited for, and run the same command again; if the host only needs more time, set KBUILD_JOB_DEADLINE=2h';

/** A deadline as people read it, in minutes. */
export const minutesOf = (deadlineMs: number): string => String(Math.round(deadlineMs / 6000) / 10);

/** After how many ms a job of this name is ended by its host. */
export const jobDeadlineMs = (name: string): number => DEADLINES_MS[name] ?? OTHERS_MS;

/** How long a host that lost the connection during a job is dialled again, in ms: the job goes on meanwhile. */
const RECONNECT_MS = 5 * 60_000;
const AGAIN_MS = 2000;

/** True when another connection may succeed. */
export const isRetryable = (error: unknown): boolean => error instanceof ConnectError && error.retryable;

/** Repeats idempotent work while it fails with an error that `isLoss` accepts. @throws its last error after 5 min */
export const patiently = <T>(
  { pause, nowMs }: Pick<Waiting, 'pause' | 'nowMs'>,
  work: () => Promise<T>,
  isLoss: (error: unknown) => boolean = isRetryable,
): Promise<T> => retried(work, isLoss, nowMs() + RECONNECT_MS, { pause, nowMs, everyMs: AGAIN_MS });
