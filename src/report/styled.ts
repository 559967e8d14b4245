import { textWidth } from './text.ts';

/** How prose is written to a terminal. */
interface Style {
  /** Lines are wrapped at words to this many columns. */
  readonly columns: number;
  readonly hasColours: boolean;
}

/** SGR parameters by the sign or word at the beginning of a line. */
const COLOURS: readonly (readonly [begin: RegExp, colour: string])[] = [
  [/^\s*✖(?: (?:error|unknown) [a-z0-9-]+)?/, '31'],
  [/^kbuild:/, '31'],
  [/^\s*\?(?= )(?: unknown [a-z0-9-]+)?/, '35'],
  [/^\s*!(?= )(?: warning [a-z0-9-]+)?/, '33'],
  [/^warning:/, '33'],
  [/^\s*~(?= )(?: due [a-z0-9-]+)?/, '36'],
  [/^\s*✔/, '32'],
  [/^\s*→/, '36'],
  [/^next:/, '36'],
];

/** The fewest columns to which kbuild wraps. In a narrower window the terminal itself wraps. */
const NARROWEST = 40;

/** Two blanks between words stand in tables, whose columns must stay. */
const isTableRow = (line: string): boolean => /\S {2,}\S/.test(line);

/** Continued lines stand two columns right of the text that they continue. */
function hang(line: string): string {
  const [lead = ''] = /^\s*(?:[✖!?~✔→] )?/u.exec(line) ?? [];
  const isSigned = lead.trim() !== '';
  return ' '.repeat(textWidth(lead) + (isSigned ? 0 : 2));
}

/** A line in pieces that fit, split at blanks. A word that is longer than the window stays whole. */
function wrapped(line: string, columns: number): readonly string[] {
  if (textWidth(line) <= columns || isTableRow(line)) return [line];
  const indent = hang(line);
  const [start = ''] = /^\s*/.exec(line) ?? [];
  const lines: string[] = [];
  let current = start;
  let isEmpty = true;
  for (const word of line.trim().split(' ')) {
    if (!isEmpty && textWidth(current) + 1 + textWidth(word) > columns) {
      lines.push(current);
      current = indent;
      isEmpty = true;
    }
    current += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, current];
}

function coloured(line: string): string {
  for (const [begin, colour] of COLOURS) {
    const found = begin.exec(line)?.[0];
    if (found === undefined) continue;
    const sign = found.trimStart();
    const blanks = found.slice(0, found.length - sign.length);
    return `${blanks}\u001B[${colour}m${sign}\u001B[0m${line.slice(found.length)}`;
  }
  return line;
}

/** Prose as a terminal shows it: wrapped at words with hanging indents, its signs in colours. */
export const styled = (text: string, { columns, hasColours }: Style): string =>
  text
    .split('\n')
    .flatMap((line) => {
      const [first = '', ...rest] = columns < NARROWEST ? [line] : wrapped(line, columns);
      return [hasColours ? coloured(first) : first, ...rest];
    })
    .join('\n');
