import { NoAnswer } from '../errors.ts';
import type { TimeLimit } from './transport.ts';

const MINUTE_MS = 60_000;

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
  'log in there and find out what hangs (a disk, a network mount, its login shell); restart the host if nothing else helps';

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
