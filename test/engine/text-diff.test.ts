import { describe, expect, test } from 'vitest';
import { textDiff } from '../../src/engine/text-diff.ts';

describe('the difference of two texts', () => {
  test('is empty for equal texts', () => expect(textDiff('a\nb\n', 'a\nb\n')).toBe(''));

  test('shows a changed line with two lines of context', () =>
    expect(textDiff('1\n2\n3\n4\n5\n6\n', '1\n2\n3\nx\n5\n6\n')).toBe('  2\n  3\n- 4\n+ x\n  5\n  6'));

  test('shows a new text as added lines', () => expect(textDiff('', 'a\nb\n')).toBe('+ a\n+ b'));

  test('leaves out unchanged lines far from a difference', () => {
    const before = [...Array(20).keys()].map(String);
    const after = before.with(1, 'x').with(18, 'y');
    expect(textDiff(before.join('\n'), after.join('\n')).split('\n')).toEqual(
      '  0,- 1,+ x,  2,  3,  …,  16,  17,- 18,+ y,  19'.split(','),
    );
  });

  test('of two texts of 20,000 lines takes no table of all pairs of lines', () => {
    const before = Array.from({ length: 20_000 }, (_, index) => `line ${String(index)}`);
    expect(textDiff(before.join('\n'), before.with(9000, 'x').join('\n'))).toBe(
      '  line 8998\n  line 8999\n- line 9000\n+ x\n  line 9001\n  line 9002',
    );
  });
});
