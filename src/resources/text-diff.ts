import { diffArrays } from 'diff';

/** Unchanged lines that are shown before and after each difference. */
const CONTEXT = 2;

const split = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** The differences between two texts, line by line with signs and two lines of context; empty when the texts are equal. */
export function textDiff(before: string, after: string): string {
  const lines = diffArrays([...split(before)], [...split(after)]).flatMap(({ value, added, removed }) => {
    const sign = added ? '+' : removed ? '-' : ' ';
    return value.map((text) => ({ sign, text }));
  });
  const near = (index: number) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ sign }) => sign !== ' ');
  const shown: string[] = [];
  let gap = false;
  lines.forEach(({ sign, text }, index) => {
    if (near(index)) {
      if (gap && shown.length > 0) shown.push('  …');
      shown.push(`${sign} ${text}`);
      gap = false;
    } else gap = true;
  });
  return shown.join('\n');
}
