import { expect, test } from 'vitest';
import { jsonText, visible } from '../../src/report/text.ts';

test('what steers a terminal is shown, line feeds and tabs stay', () => {
  expect(visible('\u001b]0;title\u0007\u001b[2J\tA\nB')).toBe('\\x1b]0;title\\x07\\x1b[2J\tA\nB');
  expect(visible('\u009b31m\u007f\u0000\u0008')).toBe('\\x9b31m\\x7f\\x00\\x08');
  expect(visible('over\rwritten, a line\r\nof Windows')).toBe('over\\x0dwritten, a line\nof Windows');
});

test('what changes the order of reading is shown', () => {
  expect(visible('safe\u202Eexe.cod\u2066 \u200f\u2028')).toBe('safe\\u202eexe.cod\\u2066 \\u200f\\u2028');
});

test('other writing stays as it is', () => {
  const text = '→ ✖ ü 漢字 العربية 🙂 \u00a0 \\x1b';
  expect(visible(text)).toBe(text);
});

test('JSON escapes the same characters in its own way, and keeps the value', () => {
  const value = { text: '\u001b[2J\u009b\u007f\u202e ü\n' };
  expect(jsonText(value)).toBe(String.raw`{"text":"\u001b[2J\u009b\u007f\u202e ü\n"}`);
  expect(JSON.parse(jsonText(value, 2))).toEqual(value);
});
