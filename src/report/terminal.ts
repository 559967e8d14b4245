import type { FrameLine, Mark, Size } from './frame.ts';
import { cutToWidth, textWidth, visible } from './text.ts';

/** How lines are written. */
export interface Look {
  readonly marks: Readonly<Record<Mark, string>>;
  /** SGR parameters of a mark's colour; none without colours. */
  readonly colours: Partial<Readonly<Record<Mark, string>>>;
}

const MARKS = {
  waits: '◼',
  works: '▸',
  done: '✔',
  failed: '✖',
  skipped: '↓',
  changed: '~',
  unknown: '?',
  none: ' ',
} as const;

/** For the console of Linux, whose fonts have few characters. */
const PLAIN_MARKS = {
  waits: '-',
  works: '>',
  done: '+',
  failed: 'x',
  skipped: '-',
  changed: '~',
  unknown: '?',
  none: ' ',
} as const;

const COLOURS = {
  waits: '2',
  works: '36',
  done: '32',
  failed: '31',
  skipped: '33',
  changed: '33',
  unknown: '35',
} as const;

/** The look for a terminal with this environment. */
export function lookOf(
  env: Readonly<Record<string, string | undefined>>,
  colours: 'always' | 'never' | undefined,
): Look {
  const isPlain = colours === 'never' || (env['NO_COLOR'] ?? '') !== '';
  return { marks: env['TERM'] === 'linux' ? PLAIN_MARKS : MARKS, colours: isPlain ? {} : COLOURS };
}

/** A line as it is written, at most `columns` wide without its colours. */
export function lineText({ mark, indent, text }: FrameLine, columns: number, { marks, colours }: Look): string {
  const shown = cutToWidth(visible(text).replaceAll(/[\n\t]+/g, ' '), Math.max(0, columns - indent - 2));
  const colour = colours[mark];
  const drawn = colour === undefined ? marks[mark] : `\u001B[${colour}m${marks[mark]}\u001B[0m`;
  return `${' '.repeat(Math.min(indent, Math.max(0, columns - 2)))}${drawn} ${shown}`.trimEnd();
}

/**
 * Lines at the bottom of a terminal that are drawn again and again. The cursor rests below them, in the first column.
 */
export interface Screen {
  /** Draws these lines in the place of those before. They must be narrower than the window, and fewer than its rows. */
  readonly draw: (lines: readonly string[]) => void;
  /** Writes text above the lines. */
  readonly above: (text: string) => void;
  /** Draws lines for the last time: they may be more than the window has rows. */
  readonly finish: (lines: readonly string[]) => void;
}

// Between BEGIN and END a terminal shows no output, so that no half-drawn frame is seen; one that does
// not know this mode (2026) ignores it. Lines do not wrap meanwhile: a character that is wider than kbuild knows would
// move all lines below it.
const WRAP = '\u001B[?7h';
const NO_WRAP = '\u001B[?7l';
const BEGIN = `\u001B[?2026h${NO_WRAP}`;
const END = `${WRAP}\u001B[?2026l`;
const CLEAR_LINE = '\u001B[K';
const ERASE_ABOVE = '\u001B[1A\u001B[2K';
const CLEAR_BELOW = '\u001B[J';

const up = (lines: number): string => (lines === 0 ? '' : `\u001B[${String(lines)}A`);
const down = (lines: number): string => (lines === 0 ? '' : `\u001B[${String(lines)}B`);

const withoutColours = (line: string): string => line.replaceAll(/\u001B\[[\d;]*m/g, '');

/** Rows of the window that lines take. Most terminals wrap old lines when their window becomes narrower. */
const rowsOf = (lines: readonly string[], columns: number): number =>
  lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(textWidth(withoutColours(line)) / columns)), 0);

/** The changed lines alone, from the row below the old ones and back to the row below the new ones. */
function changes(before: readonly string[], after: readonly string[]): string {
  const first = after.findIndex((line, at) => line !== before[at]);
  if (first === -1 && before.length === after.length) return '';
  let written = '\r';
  // The cursor's row, counted from the first line.
  let at = before.length;
  for (const [row, line] of after.entries()) {
    if (line === before[row]) continue;
    written += row < at ? up(at - row) : down(row - at);
    written += `\r${line}${CLEAR_LINE}\r\n`;
    at = row + 1;
  }
  written += after.length < at ? up(at - after.length) : down(after.length - at);
  return `${written}\r${CLEAR_BELOW}`;
}

/** Nothing that it writes has to be taken back: a process that is killed leaves the terminal as it was. */
export function screen(write: (text: string) => void, sizeNow: () => Size): Screen {
  let shown: readonly string[] = [];
  let columns = sizeNow().columns;
  const put = (text: string): void => {
    if (text !== '') write(`${BEGIN}${text}${END}`);
  };
  // Row by row: tmux keeps a screen in its history that is cleared as a whole.
  const erased = (): string => `\r${CLEAR_BELOW}${ERASE_ABOVE.repeat(rowsOf(shown, sizeNow().columns))}`;
  const whole = (lines: readonly string[]): string => lines.map((line) => `${line}\r\n`).join('');
  const again = (lines: readonly string[], text = ''): void => {
    put(`${erased()}${text}${whole(lines)}`);
    shown = lines;
    columns = sizeNow().columns;
  };
  return {
    draw: (lines) => {
      // If the window became smaller than the frame, no row is where it was.
      if (sizeNow().columns !== columns || shown.length >= sizeNow().rows) {
        again(lines);
        return;
      }
      put(changes(shown, lines));
      shown = lines;
    },
    above: (text) =>
      again(shown, `${WRAP}${text.replaceAll('\n', '\r\n')}${text.endsWith('\n') ? '' : '\r\n'}${NO_WRAP}`),
    finish: (lines) => {
      again(lines);
      shown = [];
    },
  };
}
