import type { RecordLine, RunRecord } from '../record/line.ts';

type LineOf<Kind extends RecordLine['kind']> = Extract<RecordLine, { readonly kind: Kind }>;

/** All lines of a kind, in their order. */
export const linesOf = <const Kind extends RecordLine['kind']>(
  { lines }: RunRecord,
  kind: Kind,
): readonly LineOf<Kind>[] => lines.filter((line): line is LineOf<Kind> => line.kind === kind);

/** The last line of a kind, which replaces those before it; undefined: there is none. */
export const lineOf = <const Kind extends RecordLine['kind']>(
  record: RunRecord,
  kind: Kind,
): LineOf<Kind> | undefined => linesOf(record, kind).at(-1);
