import type { RecordLine, RunRecord } from './line.ts';

/**
 * The record that this process has just written: its lines need no check, which would cost every run. @throws SyntaxError if
 * it is no JSON
 */
export function ownRecord(content: string): RunRecord {
  const [head, ...lines] = content
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordLine | RunRecord['head']) as [RunRecord['head'], ...RecordLine[]];
  return { head, lines, isWhole: true, leftOut: 0 };
}
