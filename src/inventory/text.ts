import { InventoryError } from '../errors.ts';

/** Upper limits for an inventory. One with 5,000 hosts needs about a third of them. */
const MAX_BYTES = 1024 * 1024;
const MAX_LINES = 50_000;
const MAX_LINE_LENGTH = 64 * 1024;

/** Bytes to read of a file to detect that it is too large. */
export const READ_LIMIT = MAX_BYTES + 1;

// What YAML does not allow in a text: control characters other than tab and line ends, half surrogate pairs, non-characters.
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u0084\u0086-\u009F\uFFFE\uFFFF]/;

const fail = (at: string, message: string): never => {
  throw new InventoryError([{ at, path: '', message }]);
};

/** The text of an inventory. Throws `InventoryError` on what is too large, binary or not UTF-8; takes a byte order mark away. */
export function decodeText(bytes: Uint8Array, file: string): string {
  if (bytes.length > MAX_BYTES) fail(file, 'is larger than 1 MiB, which no inventory is: is it the right file?');
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    fail(file, 'is UTF-16; save it as UTF-8');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return fail(file, 'is not UTF-8 text: is it the right file?');
  }
  text = text.replaceAll('\r\n', '\n');
  const lines = text.split('\n');
  if (lines.length > MAX_LINES) fail(file, `has ${lines.length} lines, an inventory at most ${MAX_LINES}`);
  lines.forEach((line, i) => {
    if (line.length > MAX_LINE_LENGTH)
      fail(`${file}:${i + 1}:1`, `this line has ${line.length} characters, at most ${MAX_LINE_LENGTH} are allowed`);
    const found = FORBIDDEN.exec(line);
    if (found !== null) {
      const code = found[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
      fail(
        `${file}:${i + 1}:${found.index + 1}`,
        `character U+${code} is not allowed: is it a binary file, or was something pasted? Write it as "\\u${code}" in quotes where it is meant`,
      );
    }
  });
  return text;
}
