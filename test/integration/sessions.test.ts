// @module-tag tmux
/** Sessions of `up` as a person sees them in tmux. `npx vitest run --project integration test/integration/sessions.test.ts -u` writes them. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Size } from '../lab/pseudo-terminal.ts';
import { plays, type Play } from './plays.ts';
import { inTmux } from './tmux.ts';

const ASKED = fileURLToPath(new URL('asked-run.ts', import.meta.url));
const PLAYER = fileURLToPath(new URL('played-run.ts', import.meta.url));

const momentsOf = ({ events }: Play): readonly string[] => [
  ...events.flatMap((event) => ('moment' in event ? [event.moment] : [])),
  'end',
];

async function session(name: keyof typeof plays, size: Size): Promise<string> {
  const window = inTmux([process.execPath, '--import', 'tsx', PLAYER, name], size);
  try {
    let text = '';
    for (const moment of momentsOf(plays[name])) {
      await window.titled(`at ${moment}`);
      text += `== ${moment}\n${window.lines('all')}\n\n`;
      window.press('n');
    }
    return text;
  } finally {
    window.close();
  }
}

test.each([
  ['three', { columns: 80, rows: 24 }],
  ['three', { columns: 200, rows: 60 }],
  ['fleet', { columns: 80, rows: 24 }],
  ['fleet', { columns: 200, rows: 60 }],
] as const)('%s on %o', async (name, size) => {
  const golden = `../golden/terminal/${name}-${String(size.columns)}x${String(size.rows)}.txt`;
  await expect(await session(name, size)).toMatchFileSnapshot(golden);
});

test('a window that changes its size: no line is left over, cut wrongly or drawn twice', async () => {
  const window = inTmux([process.execPath, '--import', 'tsx', PLAYER, 'resized'], { columns: 80, rows: 24 });
  try {
    for (const moment of ['prepare', 'downloads and a lock']) {
      await window.titled(`at ${moment}`);
      window.press('n');
    }
    let text = '';
    for (const [moment, columns, rows] of [
      ['narrower', 60, 24],
      ['wider', 120, 10],
      ['tiny', 24, 6],
    ] as const) {
      window.resize({ columns, rows });
      await window.titled(`at ${moment}`);
      text += `== ${moment}\n${window.lines('visible')}\n\n`;
      window.press('n');
    }
    await expect(text).toMatchFileSnapshot('../golden/terminal/resized.txt');
  } finally {
    window.close();
  }
});

test('a question in the middle of a run: nothing disturbs it, and the run is drawn again below the answer', async () => {
  const window = inTmux([process.execPath, '--import', 'tsx', ASKED], { columns: 80, rows: 24 });
  const lines = (): readonly string[] =>
    window
      .lines('all')
      .split('\n')
      .map((line) => line.replaceAll(/\d+ s\b/g, 'N s'));
  const question = 'w1: say word (found silence). Do it? [y/N]';
  const before = '▸ join: 0 of 2 hosts, N s';
  try {
    await window.titled('at question');
    expect(lines()).toEqual([before, question]);
    window.press('y');
    window.press('Enter');
    await window.titled('at answered');
    expect(lines()).toEqual([
      before,
      `${question} y`,
      '▸ join: 1 of 2 hosts, N s',
      '  ✔ w1: 1 change',
      expect.stringMatching(/^ {2}▸ w2: say word \(found silence\)/) as string,
    ]);
    window.press('n');
    await window.titled('at end');
    expect(lines()).toEqual([before, `${question} y`, '✔ join: 2 hosts, 2 changes, N s', '2 changes']);
  } finally {
    window.close();
  }
});
