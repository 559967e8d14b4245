import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Event } from '../../src/engine/event.ts';
import { lastFrame, liveFrame } from '../../src/report/frame.ts';
import { runProgress } from '../../src/report/run-progress.ts';
import { lineText, lookOf } from '../../src/report/terminal.ts';
import { textWidth } from '../../src/report/text.ts';
import { plays } from '../integration/plays.ts';

const PLAIN = lookOf({}, 'never');
const START_MS = Date.parse('2026-11-21T10:00:00Z');

/** The progress of a play after its first cues, and the time then. */
function after({ phases, events }: (typeof plays)['fleet'], count: number) {
  const progress = runProgress(phases);
  let nowMs = START_MS;
  for (const cue of events.slice(0, count)) {
    if ('atS' in cue) nowMs = START_MS + cue.atS * 1000;
    if ('kind' in cue) progress.note({ time: new Date(nowMs).toISOString(), ...cue });
  }
  return { progress, nowMs };
}

test.each(Object.keys(plays) as (keyof typeof plays)[])(
  '%s: whatever the size of the window and the moment, a frame fits into it',
  (name) => {
    const play = plays[name];
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 220 }),
        fc.integer({ min: 1, max: 70 }),
        fc.nat(play.events.length),
        (columns, rows, count) => {
          const { progress, nowMs } = after(play, count);
          const lines = liveFrame(progress, { columns, rows }, nowMs).map((line) => lineText(line, columns - 1, PLAIN));
          expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
          for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(Math.max(1, columns - 1));
        },
      ),
      { numRuns: 60 },
    );
  },
);

test('a run that succeeded ends without the phases that were not needed', () => {
  const progress = runProgress(plays.three.phases);
  const report = (event: Event): void => progress.note({ time: '2026-11-21T10:00:00Z', ...event });
  report({ kind: 'phase-started', phase: 'prepare', title: 'Prepare hosts', hosts: ['w1'] });
  report({ kind: 'host-started', phase: 'prepare', host: 'w1' });
  report({ kind: 'host-done', phase: 'prepare', host: 'w1', changes: 0, durationMs: 5 });
  report({ kind: 'phase-done', phase: 'prepare', changes: 0, durationMs: 5 });
  report({ kind: 'done', changes: 0, failed: [], durationMs: 5 });
  expect(lastFrame(progress, { columns: 80, rows: 24 }, START_MS)).toEqual([
    { mark: 'done', indent: 0, text: 'Prepare hosts: as it should be, 0 s' },
  ]);
});

test('a phase that verifies again counts its hosts again', () => {
  const progress = runProgress(plays.three.phases);
  const report = (event: Event): void => progress.note({ time: '2026-11-21T10:00:00Z', ...event });
  for (let round = 0; round < 2; round++) {
    report({ kind: 'phase-started', phase: 'verify', title: 'Verify nodes', hosts: ['w1', 'w2'] });
    report({ kind: 'host-started', phase: 'verify', host: 'w1' });
    report({ kind: 'host-done', phase: 'verify', host: 'w1', changes: 0, durationMs: 5 });
    const texts = liveFrame(progress, { columns: 80, rows: 24 }, START_MS).map(({ text }) => text);
    expect(texts).toContain('Verify nodes: 1 of 2 hosts, 0 s');
    report({ kind: 'host-done', phase: 'verify', host: 'w2', changes: 0, durationMs: 5 });
    report({ kind: 'phase-done', phase: 'verify', changes: 0, durationMs: 5 });
  }
});

test('what a host waits for that is in no phase is shown where something was changed last', () => {
  const progress = runProgress(plays.three.phases);
  const report = (event: Event): void => progress.note({ time: '2026-11-21T10:00:00Z', ...event });
  report({ kind: 'phase-started', phase: 'join', title: 'Join workers', hosts: ['cp1', 'w1'] });
  report({ kind: 'host-started', phase: 'join', host: 'w1' });
  report({ kind: 'changing', phase: 'join', host: 'w1', step: 'join', summary: 'join' });
  report({ kind: 'job-waits', host: 'cp1', summary: 'a lock' });
  const texts = liveFrame(progress, { columns: 80, rows: 24 }, START_MS).map(({ text }) => text);
  expect(texts).toContain('w1: cp1: a lock');
});

test('text of a host cannot steer the terminal', () => {
  expect(lineText({ mark: 'works', indent: 2, text: 'w1: \u001B[2Jgone\nnext' }, 80, PLAIN)).toBe(
    String.raw`  ▸ w1: \x1b[2Jgone next`,
  );
});
