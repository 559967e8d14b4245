import { UsageError } from '../../errors.ts';
import { RECORD_FORMAT, type RecordLine, type RunRecord } from './line.ts';
import { recordHead, recordLine } from './schema.ts';

/** The JSON in a line; undefined if there is none. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

const formatIn = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'run' && 'format' in value
    ? value.format
    : undefined;

/** @throws UsageError for anything that is no first line of a record of this format */
function headOf(line: string, name: string): RunRecord['head'] {
  const value = parsed(line);
  const head = recordHead.safeParse(value);
  if (head.success) return head.data;
  const format = formatIn(value);
  if (typeof format === 'number' && format !== RECORD_FORMAT)
    throw new UsageError(
      `${name}: a record of format ${String(format)} (this kbuild reads format ${String(RECORD_FORMAT)})`,
      { remedy: 'use the kbuild that wrote it, or a newer one' },
    );
  throw new UsageError(`${name}: not the record of a run (its first line does not say what ran)`, {
    remedy: 'name a file that kbuild wrote: runs/RUN.ndjson in the folder of the cluster below $XDG_STATE_HOME/kbuild',
  });
}

/**
 * The record of a run. A run that was killed leaves a record that ends anywhere: its last line counts only if it is whole.
 * Lines of unknown kinds, and fields that are unknown, are left out. `name` stands in errors.
 * @throws UsageError for a file of another format, and for one that is no record
 */
export function readRecord(content: string, name: string): RunRecord {
  const [first = '', ...rest] = content.split('\n');
  const head = headOf(first, name);
  let leftOut = 0;
  const lines = rest.flatMap((text): readonly RecordLine[] => {
    if (text === '') return [];
    const line = recordLine.safeParse(parsed(text));
    if (line.success) return [line.data];
    leftOut += 1;
    return [];
  });
  return { head, lines, isWhole: lines.at(-1)?.kind === 'end', leftOut };
}
