import type { RecordLine } from './line.ts';

/** The lines of one kind. */
export type LineOf<K extends RecordLine['kind']> = Extract<RecordLine, { readonly kind: K }>;

/** What is done with a line, by its kind. `atMs`: its time, ms since the epoch. */
export type Takers = { readonly [K in RecordLine['kind']]?: (line: LineOf<K>, atMs: number) => void };

/** Calls what takes lines of this kind, if there is one. */
export function take(takers: Takers, line: RecordLine, atMs: number): void {
  const taker = takers[line.kind] as ((line: RecordLine, atMs: number) => void) | undefined;
  taker?.(line, atMs);
}
