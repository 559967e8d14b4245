import type { Row } from '../windows/selftest/outcome.ts';

const WORDS: Readonly<Record<Row['result'], string>> = {
  pass: 'pass',
  fail: 'FAIL',
  limit: 'limit',
  'not-tried': 'not tried',
};

/** The table of a selftest: each flow, its result and the reason. */
export function selftestText(rows: readonly Row[]): string {
  const lines = rows.map((row) => [row.about, WORDS[row.result], row.flow, row.result === 'pass' ? '' : row.why]);
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((line) => line[column]!.length), 0));
  const count = (result: Row['result']): string =>
    `${String(rows.filter((row) => row.result === result).length)} ${WORDS[result]}`;
  return [
    ...lines.map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
    '',
    (['pass', 'fail', 'limit', 'not-tried'] as const).map(count).join(', '),
    '',
  ].join('\n');
}
