import { ConnectError, NoAnswer } from '../errors.ts';
import { retried, type Waiting } from '../wait.ts';
import type { TimeLimit } from './transport.ts';

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
  'mend what it waited for, and run the same command again; if the host only needs more time, set ' +
  'KBUILD_JOB_DEADLINE=2h';

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

/**
 * Limits of commands on a host. A probe has its own deadline on the host (20 s), which a host with a hung disk does not
 * keep: so kbuild has its own.
 */
export const LIMITS = {
  /** Probes, and what only reads: a slow host may take minutes, and prints the answer of each probe. */
  ask: { totalMs: 15 * MINUTE_MS, silentMs: 3 * MINUTE_MS },
  /** What finds out how to become root, and whether a silent host still answers. */
  short: { totalMs: MINUTE_MS },
  /** A change by itself; as long as a job. What takes longer is a job. */
  change: { totalMs: 30 * MINUTE_MS },
  /** A file of any size: as long as bytes flow. The host computes its hash in silence. */
  file: { totalMs: Infinity, silentMs: 15 * MINUTE_MS },
} as const satisfies Readonly<Record<string, TimeLimit>>;

const inWords = (ms: number): string =>
  ms < MINUTE_MS ? `${String(ms / 1000)} s` : `${String(Math.round(ms / MINUTE_MS))} min`;

/** What an operator can do about a Linux host that is logged in to and answers no command. */
const LINUX_REMEDY =
  'log in there and find out what hangs (a disk, a network mount, its login shell); restart the host if nothing ' +
  'else helps';

/** The error of a command that gave no answer within its limit. */
export const noAnswer = (
  host: string,
  title: string,
  { totalMs, silentMs = totalMs }: TimeLimit,
  remedy: string = LINUX_REMEDY,
): NoAnswer =>
  new NoAnswer(host, `no answer within ${inWords(Math.min(silentMs, totalMs))}: ${title}`, {
    retryable: false,
    remedy,
  });
