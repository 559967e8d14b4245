import type { FrameLine, Mark } from './frame.ts';
import { cutToWidth } from './text-width.ts';
import { visible } from './visible.ts';

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
