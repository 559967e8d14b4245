import xterm from '@xterm/headless';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { screen } from '../../src/report/terminal.ts';

const SIZE = { columns: 20, rows: 8 };

/** All lines of a terminal that got these bytes. */
async function shownBy(bytes: string): Promise<readonly string[]> {
  const terminal = new xterm.Terminal({
    cols: SIZE.columns,
    rows: SIZE.rows,
    allowProposedApi: true,
    convertEol: true,
  });
  await new Promise<void>((resolve) => terminal.write(bytes, resolve));
  const { active } = terminal.buffer;
  const lines = Array.from({ length: active.length }, (_, i) => active.getLine(i)?.translateToString(true) ?? '');
  terminal.dispose();
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}

const drawn = () => {
  let bytes = '';
  const made = screen(
    (text) => void (bytes += text),
    () => SIZE,
  );
  return { ...made, bytes: () => bytes };
};

const line = fc.stringMatching(/^[a-z]{1,19}$/);
const frames = fc.array(fc.array(line, { maxLength: SIZE.rows - 1 }), { minLength: 1, maxLength: 8 });

describe('a screen', () => {
  test('shows the last frame, whatever was drawn before, below what was there', async () => {
    await fc.assert(
      fc.asyncProperty(frames, async (all) => {
        const { draw, bytes } = drawn();
        for (const one of all) draw(one);
        expect(await shownBy(`$ kbuild up\r\n${bytes()}`)).toEqual(['$ kbuild up', ...all.at(-1)!]);
      }),
      { numRuns: 100 },
    );
  });

  test('writes nothing for the same frame, and only the line that changed', () => {
    const { draw, bytes } = drawn();
    draw(['first', 'second', 'third']);
    const before = bytes().length;
    draw(['first', 'second', 'third']);
    expect(bytes().slice(before)).toBe('');
    draw(['first', 'changed', 'third']);
    expect(bytes().slice(before)).toContain('changed');
    expect(bytes().slice(before)).not.toMatch(/first|second|third/);
  });

  test('keeps text that is written above it, and cuts a last frame at no height', async () => {
    const { draw, above, finish, bytes } = drawn();
    draw(['working']);
    above('a message that is longer than a line\n');
    const last = Array.from({ length: 12 }, (_, i) => `phase ${String(i)}`);
    finish(last);
    expect(await shownBy(bytes())).toEqual(['a message that is lo', 'nger than a line', ...last]);
  });

  test('ends every drawing with the modes of the terminal as they were', () => {
    const { draw, bytes } = drawn();
    draw(['one']);
    expect(bytes()).toMatch(/^\u001B\[\?2026h\u001B\[\?7l.*\u001B\[\?7h\u001B\[\?2026l$/s);
  });
});
