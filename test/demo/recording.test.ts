/** The recorded build: it stays loadable, it is shown by kbuild's own reporters, and each part says that it is a recording. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { TerminalStream } from '../../src/report/run-renderer.ts';
import { reportPage } from '../../src/report/page/page.ts';
import { asRecording, playback, smallRecord } from './playback.ts';
import { play, RECORD, recordedBuild, showRecording, type Stage } from './recording.ts';

/** A stage on which no time passes but that which is waited for. */
function stage(terminal?: TerminalStream): Stage & { readonly shown: () => string; readonly waited: () => number } {
  let [text, nowMs] = ['', 0];
  return {
    write: (more) => void (text += more),
    terminal,
    env: { NO_COLOR: '1' },
    nowMs: () => nowMs,
    wait: (ms) => Promise.resolve((nowMs += ms)),
    shown: () => text,
    waited: () => nowMs,
  };
}

describe('the recorded build', () => {
  test('is a whole one of three hosts that ended well, and every line of it is understood', () => {
    const { head, isWhole, leftOut, lines } = recordedBuild();
    expect({ isWhole, leftOut, command: head.command }).toEqual({ isWhole: true, leftOut: 0, command: 'up' });
    expect(head.hosts.map(({ name }) => name)).toEqual(['demo-cp1', 'demo-w1', 'demo-w2']);
    expect(lines.at(-1)).toMatchObject({ kind: 'end', exitCode: 0, result: expect.stringMatching(/^done: \d+ changes on \d hosts/) as string }); // prettier-ignore
    const up = lines.findLast((line) => line.kind === 'cluster-observed');
    expect(up).toMatchObject({ state: 'up', endpointAnswer: 'ok' });
    expect(up?.nodes.map(({ name, ready }) => `${name} ${String(ready)}`)).toEqual(
      head.hosts.map(({ name }) => `${name} true`),
    );
  });

  test('is small, and holds no secret', () => {
    const text = readFileSync(RECORD, 'utf8');
    expect(statSync(RECORD).size).toBeLessThan(100_000);
    expect(smallRecord(text)).toBe(text);
    expect(text).not.toMatch(/PRIVATE KEY|\b[a-z0-9]{6}\.[a-z0-9]{16}\b|\beyJ[\w-]{10,}\.|password/i);
  });
});

describe('played', () => {
  test('without a terminal each line says that it is a recording', async () => {
    const on = stage();
    await play(recordedBuild(), on);
    const lines = on
      .shown()
      .split('\n')
      .filter((line) => line !== '');
    expect(lines.filter((line) => !line.startsWith('recording | '))).toEqual([]);
    expect(on.shown()).toContain('recording | Carry out this plan? [y/N] y\n');
    expect(on.shown()).toMatch(/recording \| \d\d:\d\d:\d\d == Prepare hosts \(/);
    expect(lines.at(-1)).toMatch(/^recording \| done: \d+ changes on \d hosts in /);
  });

  test('on a terminal every picture says so, at any size of the window', async () => {
    for (const [columns, rows] of [
      [80, 24],
      [120, 40],
      [40, 10],
    ] as const) {
      const written: string[] = [];
      const terminal = { columns, rows, write: (text: string) => written.push(text) > 0, on: () => terminal, off: () => terminal } as unknown as TerminalStream; // prettier-ignore
      const drawings: (() => void)[] = [];
      const on = stage(terminal);
      await play(recordedBuild(), {
        ...on,
        wait: async (ms) => {
          await on.wait(ms);
          for (const draw of drawings.splice(0)) draw();
        },
        after: (_, act) => {
          drawings.push(act);
          return () => void drawings.splice(0);
        },
      });
      const pictures = written.filter((text) => text.includes('▸ ') || text.includes('✔ '));
      expect(pictures.length).toBeGreaterThan(10);
      // Later drawings write what changed alone: the first line stays, and only its time is written anew.
      expect(pictures[0]).toContain('▸ RECORDING, ');
      expect(written.at(-1)).toContain('✔ RECORDING, ');
      const gone = written.slice(1, -1).filter((text) => /\u001B\[2K/.test(text) && !text.includes('RECORDING'));
      expect(gone).toEqual([]);
    }
  });

  test('takes less than a minute', async () => {
    const on = stage();
    await play(recordedBuild(), on);
    expect(on.waited()).toBeLessThan(60_000);
    expect(playback(recordedBuild()).speed).toBeGreaterThanOrEqual(1);
  });
});

test('its report is written for the user alone, and says that it is of a recording', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-demo-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const page = await showRecording(join(folder, 'state'), stage());
  expect(statSync(page).mode & 0o777).toBe(0o600);
  expect(readFileSync(page, 'utf8')).toBe(reportPage(asRecording(recordedBuild())));
  expect(readFileSync(page, 'utf8')).toContain('(a recording: nothing was built on this machine)');
});
