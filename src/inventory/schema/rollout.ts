import * as z from 'zod';
import type { Rollout } from '../host-settings.ts';
import { text } from './formats.ts';

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000 } as const;

/** `90s`, `10m` or `1h` in ms. */
const durationMs = (text: string): number =>
  Number(text.slice(0, -1)) * UNITS_MS[text.slice(-1) as keyof typeof UNITS_MS];

/** A run holds its locks while it pauses. */
const LONGEST_PAUSE = '24h';

/** `rollout:` */
export const rollout = z
  .strictObject({
    maxUnavailable: z
      .union([
        z.number().int().min(1).max(10_000),
        text(/^(?:[1-9]\d?|100)%$/, 'a number of workers, or a share of them, e.g. "20%"'),
      ])
      .default('10%')
      .meta({
        description:
          'How many workers may be without their kubelet or runtime, or drained, at once: a number, or a share, ' +
          'rounded down; at least one. Control planes change one at a time whatever it says.',
      }),
    drainTimeout: text(/^[1-9]\d{0,4}[smh]$/, 'seconds, minutes or hours, e.g. "10m"')
      .default('5m')
      .meta({
        description:
          'How long the drain of a node may take. A drain that takes longer fails, and the node takes pods again.',
      }),
    pause: text(/^\d{1,5}[smh]$/, 'seconds, minutes or hours, e.g. "10m"')
      .refine((pause) => durationMs(pause) <= durationMs(LONGEST_PAUSE), {
        error: `must be at most ${LONGEST_PAUSE}`,
      })
      .default('0s')
      .meta({
        description:
          'How long a run waits between two batches of workers, after the first is well and before the next is ' +
          'drained or disrupted. Then it observes again. At most 24h. Control planes do not wait.',
      }),
  })
  .prefault({})
  .meta({
    description: 'How changes go from node to node; --max-unavailable and --drain-timeout of a command win over it.',
  });

/** The setting as a value. */
export function rolloutOf({ maxUnavailable, drainTimeout, pause }: z.output<typeof rollout>): Rollout {
  return {
    maxUnavailable:
      typeof maxUnavailable === 'number'
        ? { workers: maxUnavailable }
        : { percent: Number(maxUnavailable.slice(0, -1)) },
    drainTimeoutMs: durationMs(drainTimeout),
    pauseMs: durationMs(pause),
  };
}
