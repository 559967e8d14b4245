/** What a terminal shows of a run that the engine carries out, asked of a terminal (xterm). */
import xterm from '@xterm/headless';
import { describe, expect, test } from 'vitest';
import { converge } from '../../src/engine/converge.ts';
import type { Event } from '../../src/engine/event.ts';
import { questions, runTasks, type Task } from '../../src/engine/tasks.ts';
import { runProgress } from '../../src/report/run-progress.ts';
import { RunRenderer, type TerminalStream } from '../../src/report/run-renderer.ts';
import { lookOf } from '../../src/report/terminal.ts';
import { bareRun } from '../engine/bare-run.ts';
import { host, linuxPhase, wants } from '../engine/world.ts';

const SIZE = { columns: 80, rows: 24 };

/** A terminal, what draws on it, and `tick`, which lets drawings that are planned happen. */
function drawnOn(phases: Parameters<typeof runProgress>[0]) {
  const terminal = new xterm.Terminal({
    cols: SIZE.columns,
    rows: SIZE.rows,
    scrollback: 10_000,
    allowProposedApi: true,
  });
  const progress = runProgress(phases);
  const writes: string[] = [];
  const planned = new Set<() => void>();
  const listeners = new Set<unknown>();
  const stream = {
    ...SIZE,
    write: (text: string) => Boolean(writes.push(text)),
    on: (_: string, act: unknown) => listeners.add(act),
    off: (_: string, act: unknown) => listeners.delete(act),
  } as unknown as TerminalStream;
  let nowMs = 0;
  const rendererOptions = {
    progress,
    stream,
    nowMs: () => nowMs,
    look: lookOf({}, 'never'),
    after: (_: number, act: () => void) => {
      planned.add(act);
      return () => planned.delete(act);
    },
  };
  const emit = (event: Event): void => progress.note({ time: new Date(nowMs).toISOString(), ...event });
  const draw = (): void => {
    nowMs += 100;
    for (const act of [...planned]) {
      planned.delete(act);
      act();
    }
  };
  const put = (text: string): Promise<void> => new Promise((resolve) => terminal.write(text, resolve));
  /** The rows that are filled, after all that was written. */
  const rows = async (): Promise<readonly string[]> => {
    for (const text of writes.splice(0)) await put(text);
    const { active } = terminal.buffer;
    const all = Array.from({ length: active.length }, (_, y) => active.getLine(y)?.translateToString(true) ?? '');
    return all.filter((row) => row !== '');
  };
  return {
    terminal,
    writes,
    planned,
    listeners,
    stream,
    emit,
    draw,
    put,
    rows,
    display: { renderer: RunRenderer as never, rendererOptions },
  };
}

const PHASES = [linuxPhase('join', [host('w1'), host('w2')], [])];

describe('a question in the middle of a run', () => {
  test('ends the drawing, is disturbed by nothing, and the drawing goes on after the answer', async () => {
    const { display, emit, draw, rows, stream, planned, listeners } = drawnOn(PHASES);
    const ask = questions();
    const seen: (readonly string[])[] = [];
    const work: Task = {
      task: async (_, task) => {
        emit({ kind: 'phase-started', phase: 'join', title: 'Join', hosts: ['w1', 'w2'] });
        emit({ kind: 'host-started', phase: 'join', host: 'w1' });
        draw();
        seen.push(await rows());
        await ask(task, async () => {
          stream.write('Do it? ');
          emit({ kind: 'host-started', phase: 'join', host: 'w2' });
          expect(planned.size).toBe(0);
          draw();
          seen.push(await rows());
          stream.write('y\r\n');
        });
        draw();
        seen.push(await rows());
        stream.write('a note\n');
        emit({ kind: 'done', changes: 0, failed: [], durationMs: 1 });
      },
    };
    await runTasks([work], display);
    seen.push(await rows());
    expect(seen).toEqual([
      ['▸ join: 0 of 2 hosts, 0 s', '  ▸ w1', '  ◼ w2'],
      [expect.stringMatching(/^▸ join/) as string, 'Do it? '],
      [
        expect.stringMatching(/^▸ join/) as string,
        'Do it? y',
        expect.stringMatching(/^▸ join/) as string,
        '  ▸ w1',
        '  ▸ w2',
      ],
      [expect.stringMatching(/^▸ join/) as string, 'Do it? y', 'a note', expect.stringMatching(/join/) as string],
    ]);
    expect([planned.size, listeners.size]).toEqual([0, 0]);
  });

  test('that fails lets the drawing go on, too', async () => {
    const { display, emit, draw, rows } = drawnOn(PHASES);
    const ask = questions();
    const work: Task = {
      task: async (_, task) => {
        emit({ kind: 'phase-started', phase: 'join', title: 'Join', hosts: ['w1', 'w2'] });
        await ask(task, () => Promise.reject(new Error('interrupted at a question'))).catch(() => undefined);
        emit({ kind: 'host-started', phase: 'join', host: 'w1' });
        draw();
        expect(await rows()).toContain('  ▸ w1');
      },
    };
    await runTasks([work], display);
  });
});

test('a run that ends by an error leaves the terminal as it was', async () => {
  const { display, emit, stream, listeners, planned } = drawnOn(PHASES);
  const { write } = stream;
  const work: Task = {
    task: () => {
      emit({ kind: 'phase-started', phase: 'join', title: 'Join', hosts: ['w1'] });
      expect(stream.write).not.toBe(write);
      throw new Error('a mistake');
    },
  };
  await expect(runTasks([work], display)).rejects.toThrow('a mistake');
  expect([listeners.size, planned.size]).toEqual([0, 0]);
  stream.write('$ ');
});

test('200 hosts on 80 × 24: no line is wrapped, and no row is scrolled away', async () => {
  const hosts = Array.from({ length: 200 }, (_, i) => host(`worker-${String(i)}.a-long-domain.example`));
  const phases = Array.from({ length: 10 }, (_, p) =>
    linuxPhase(
      `phase ${String(p)} with a name that is longer than the window is wide, ${'x'.repeat(40)}`,
      hosts,
      [wants(`${String(p)}-a`), wants(`${String(p)}-全角の文字`.repeat(12))],
      p > 0 && p < 5 ? { overlaps: true } : {},
    ),
  );
  const { terminal, display, emit, draw, put, writes } = drawnOn(phases);
  let events = 0;
  await converge(
    bareRun(phases, hosts, {
      display,
      concurrency: 30,
      emit: (event) => {
        emit(event);
        if ((events += 1) % 40 === 0) draw();
      },
    }),
  );
  let drawings = 0;
  for (const text of writes) {
    await put(text);
    drawings += 1;
    const { active } = terminal.buffer;
    expect(active.baseY).toBe(0);
    const rows = Array.from({ length: SIZE.rows }, (_, y) => active.getLine(y));
    expect(rows.filter((row) => row?.isWrapped)).toEqual([]);
  }
  expect(drawings).toBeGreaterThan(200);
});
