/**
 * Characters that steer a terminal, or change the order in which a line is read: control characters but line feed and tab
 * (C0, DEL, C1), line and paragraph separators, marks and overrides of writing direction.
 */
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const hex = (character: string, digits: number): string => character.charCodeAt(0).toString(16).padStart(digits, '0');

/**
 * Text for a terminal: what steers it is shown as `\x1b` or `\u202e`. Text of hosts, repositories and servers is part of
 * nearly every message, so all output but the contents of files goes through here.
 */
export const visible = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(STEERING, (one) => (one < '\u0100' ? `\\x${hex(one, 2)}` : `\\u${hex(one, 4)}`));

/** JSON in which what steers a terminal is escaped too: JSON itself allows DEL, C1 and direction marks. */
export const jsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replaceAll(STEERING, (one) => `\\u${hex(one, 4)}`);
