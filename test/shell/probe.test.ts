import { describe, expect, test, vi } from 'vitest';
import { lineOf, numberOf, probe, timeOf, wordOf } from '../../src/shell/probe.ts';
import { sh } from '../../src/shell/sh.ts';
import { excerpt } from '../../src/shell/text.ts';

const NOW = { middleMs: 0 };

test('hosts that answer alike are parsed once, and another answer is parsed anew', () => {
  const parse = vi.fn((out: string) => ({ text: out }));
  const { parse: read } = probe(sh`true`, (out) => parse(out));
  expect(read('a', NOW)).toBe(read('a', NOW));
  expect(read('b', NOW)).toEqual({ text: 'b' });
  expect(read('a', NOW)).toEqual({ text: 'a' });
  expect(parse).toHaveBeenCalledTimes(3);
});

test('an output that was not understood is not taken for another one', () => {
  const { parse: read } = probe(sh`true`, (out) => {
    if (out === 'odd') throw new Error('unexpected output: odd');
    return out;
  });
  expect(read('a', NOW)).toBe('a');
  expect(() => read('odd', NOW)).toThrow('unexpected output');
  expect(() => read('odd', NOW)).toThrow('unexpected output');
  expect(read('a', NOW)).toBe('a');
});

test('a fact of a moment is read for each host, whatever it answers', () => {
  const { parse: read } = probe(sh`true`, (out, { middleMs }) => Number(out) - middleMs);
  expect([read('5', { middleMs: 1 }), read('5', { middleMs: 2 })]).toEqual([4, 3]);
});

describe('a text of a host that was not expected', () => {
  test('is shown as one line of 200 characters', () => {
    expect(() => wordOf('on', 'off')(`x\n\ny${'Z'.repeat(20_000_000)}`)).toThrow(
      new Error(`unexpected output: x y${'Z'.repeat(196)}…`),
    );
    expect(() => wordOf('on', 'off')('neither\n')).toThrow(/^unexpected output: neither$/);
    expect(excerpt(' a \t b\n')).toBe('a b');
    expect(excerpt('a'.repeat(200))).toBe('a'.repeat(200));
    expect(excerpt(`a${' '.repeat(1000)}b`)).toBe('a…');
  });

  test('is no name of more than a line, no number and no time', () => {
    expect(lineOf(' x86_64\n')).toBe('x86_64');
    for (const odd of ['a\nb', 'a'.repeat(257)]) expect(() => lineOf(odd)).toThrow('unexpected output');
    expect([numberOf('4\n'), numberOf('-1.5')]).toEqual([4, -1.5]);
    for (const odd of ['', 'NaN', '1e309', '0x10', '1 2', '9'.repeat(21), undefined])
      expect(() => numberOf(odd)).toThrow('not a number');
    expect(timeOf('2026-01-01T00:00:00Z')).toBe(Date.UTC(2026, 0));
    for (const odd of ['', 'never', undefined]) expect(() => timeOf(odd)).toThrow('not a time');
  });
});
