import { diffArrays } from 'diff';

/** Unchanged lines that are shown before and after each difference. */
const CONTEXT = 2;

const split = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** More changed lines than these are not told apart: the time grows with their square. */
const MOST_CHANGED = 1000;

/** Lines that are shown: what a person reads, and what fits into a pull request. */
const MOST_SHOWN = 4000;

interface Line {
  readonly sign: '+' | '-' | ' ';
  readonly text: string;
}

const signed = (sign: Line['sign'], texts: readonly string[]): readonly Line[] => texts.map((text) => ({ sign, text }));

const sameStart = (a: readonly string[], b: readonly string[]): number => {
  const at = a.findIndex((line, i) => line !== b[i]);
  return at === -1 ? a.length : at;
};

/**
 * All lines of both texts. Between the same beginning and end, lines of texts that differ much are all removed and all
 * added.
 */
function linesOf(before: readonly string[], after: readonly string[]): readonly Line[] {
  const parts = diffArrays([...before], [...after], { maxEditLength: MOST_CHANGED });
  if (parts !== undefined)
    return parts.flatMap(({ value, added, removed }) => signed(added ? '+' : removed ? '-' : ' ', value));
  const start = sameStart(before, after);
  const [oldRest, newRest] = [before.slice(start), after.slice(start)];
  const end = Math.min(sameStart(oldRest.toReversed(), newRest.toReversed()), oldRest.length, newRest.length);
  return [
    ...signed(' ', before.slice(0, start)),
    ...signed('-', oldRest.slice(0, oldRest.length - end)),
    ...signed('+', newRest.slice(0, newRest.length - end)),
    ...signed(' ', oldRest.slice(oldRest.length - end)),
  ];
}

/**
 * The differences between two texts, line by line with signs and two lines of context; empty when the texts are equal.
 * The first 4,000 lines of them.
 */
export function textDiff(before: string, after: string): string {
  const lines = linesOf(split(before), split(after));
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
  const rest = shown.length - MOST_SHOWN;
  return [...shown.slice(0, MOST_SHOWN), ...(rest > 0 ? [`  … (${String(rest)} more lines)`] : [])].join('\n');
}
