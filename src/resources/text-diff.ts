const CONTEXT = 2;

type Line = { readonly sign: ' ' | '-' | '+'; readonly text: string };

/** Lines of both texts in order, by the longest common subsequence. */
function compare(before: readonly string[], after: readonly string[]): readonly Line[] {
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      common[i * width + j] =
        before[i] === after[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const found: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      found.push({ sign: ' ', text: before[i++]! });
      j++;
    } else if (j >= after.length || (i < before.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!))
      found.push({ sign: '-', text: before[i++]! });
    else found.push({ sign: '+', text: after[j++]! });
  }
  return found;
}

const split = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** What differs between two texts, line by line with signs and two lines of context; empty when nothing does. */
export function textDiff(before: string, after: string): string {
  const compared = compare(split(before), split(after));
  const near = (index: number) =>
    compared.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ sign }) => sign !== ' ');
  const shown: string[] = [];
  let gap = false;
  compared.forEach(({ sign, text }, index) => {
    if (near(index)) {
      if (gap && shown.length > 0) shown.push('  …');
      shown.push(`${sign} ${text}`);
      gap = false;
    } else gap = true;
  });
  return shown.join('\n');
}
