import { expect, test, vi } from 'vitest';
import { probe } from '../../src/shell/probe.ts';
import { sh } from '../../src/shell/sh.ts';

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
