import { expect, test } from 'vitest';
import { textDiff } from '../../src/resources/text-diff.ts';

test('equal texts have no difference', () => expect(textDiff('a\nb\n', 'a\nb\n')).toBe(''));

test('a changed line shows with two lines around it', () =>
  expect(textDiff('1\n2\n3\n4\n5\n6\n', '1\n2\n3\nx\n5\n6\n')).toBe('  2\n  3\n- 4\n+ x\n  5\n  6'));

test('what is far from a change is left out', () => {
  const before = [...Array(20).keys()].map(String);
  const after = before.with(1, 'x').with(18, 'y');
  expect(textDiff(before.join('\n'), after.join('\n')).split('\n')).toEqual(
    '  0,- 1,+ x,  2,  3,  …,  16,  17,- 18,+ y,  19'.split(','),
  );
});
