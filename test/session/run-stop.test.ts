import { expect, test, vi } from 'vitest';
import type { Context } from '../../src/session/context.ts';
import { type RunOutput, runStop } from '../../src/session/output.ts';

test('a deadline counts from its start, ends the run, gives up work after the grace period, and can be cancelled', () => {
  vi.useFakeTimers();
  try {
    const events: string[] = [];
    const started = (timeoutMs: number) => {
      const stop = runStop(timeoutMs);
      stop.signal.addEventListener('abort', () => events.push(`passed: ${(stop.signal.reason as Error).message}`));
      const context = {
        err: () => undefined,
        onInterrupt: () => () => undefined,
        exit: (code: number) => void events.push(`over: ${String(code)}`),
      };
      const output = { standing: { text: () => '' }, log: () => undefined, showInterrupted: () => undefined };
      stop.listen(context as unknown as Context, output as unknown as RunOutput);
      return stop;
    };
    started(90_000);
    const cancelled = started(60_000);
    vi.advanceTimersByTime(60_000);
    expect(events).toEqual(['passed: the run did not end within 1 min (--timeout)']);
    cancelled.release();
    vi.advanceTimersByTime(60_000);
    expect(events.slice(1)).toEqual(['passed: the run did not end within 90 s (--timeout)', 'over: 5']);
    started(Infinity);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
