/** Characters that a terminal draws over the one before them, or not at all. */
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

/** Characters of two columns: East Asian wide and fullwidth ones (Unicode, EastAsianWidth.txt), and emoji. */
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation})$/u;

const PLAIN = /^[\u0020-\u007e]*$/;

const columnsOf = (character: string): number =>
  PLAIN.test(character) ? 1 : ZERO.test(character) ? 0 : WIDE.test(character) ? 2 : 1;

/** How many columns a line of text takes on a terminal; at least, since terminals disagree on rare characters. */
export const textWidth = (line: string): number =>
  PLAIN.test(line) ? line.length : Array.from(line, columnsOf).reduce((sum, columns) => sum + columns, 0);

/** The beginning of a line that fits into these columns. `…` stands at the end of one that was cut. */
export function cutToWidth(line: string, columns: number): string {
  if (textWidth(line) <= columns) return line;
  if (columns < 1) return '';
  let kept = '';
  let width = 0;
  for (const character of line) {
    width += columnsOf(character);
    if (width > columns - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}
