import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutToWidth, textWidth } from '../../src/report/text.ts';

test.each([
  ['w1: install kubelet', 19],
  ['主机', 4],
  ['é as two characters: e\u0301', 22],
  ['✔ ▸ ◼ █ ░', 9],
  ['🚀', 2],
  ['', 0],
])('%j takes %i columns', (text, columns) => {
  expect(textWidth(text)).toBe(columns);
});

test.each([
  ['installs', 8, 'installs'],
  ['installs kubelet', 9, 'installs…'],
  ['主机名', 6, '主机名'],
  ['主机名', 5, '主机…'],
  ['主机名', 4, '主…'],
  ['abc', 1, '…'],
  ['abc', 0, ''],
])('%j in %i columns is %j', (text, columns, cut) => {
  expect(cutToWidth(text, columns)).toBe(cut);
});

test('a cut line never takes more columns than it may', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(30), (text, columns) => {
      expect(textWidth(cutToWidth(text, columns))).toBeLessThanOrEqual(columns);
    }),
  );
});
