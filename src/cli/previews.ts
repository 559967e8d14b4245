import { eachLimit } from '../each-limit.ts';
import type { PlannedChange } from '../engine/plan.ts';
import { grouped } from '../report/grouped.ts';
import { hostList } from '../report/host-list.ts';
import { DEFAULT_CONCURRENCY } from './options.ts';
import type { Run } from './session/run.ts';

/** A change and what it would change, line by line; undefined where the change has nothing to show. */
export type Previewed = PlannedChange & { readonly diff?: string };

/** Reads what `plan --diff` shows of each change, many hosts at once. What cannot be read says so in its place. */
export async function previewed(
  { connected, flags }: Run,
  changes: readonly PlannedChange[],
): Promise<readonly Previewed[]> {
  const results = await eachLimit(changes, flags.concurrency ?? DEFAULT_CONCURRENCY, async (planned) => {
    const diff = await planned.change.preview?.(connected.on);
    return diff === undefined ? planned : { ...planned, diff };
  });
  return results.map((result, at) =>
    result.status === 'fulfilled'
      ? result.value
      : { ...changes[at]!, diff: `(could not be read: ${(result.reason as Error).message})` },
  );
}

/** Previews as text. The same preview of several hosts is shown once. */
export const previewsText = (changes: readonly Previewed[]): string =>
  grouped(
    changes.filter(({ diff }) => diff !== undefined && diff !== ''),
    ({ diff }) => diff!,
    ({ summary }) => [summary],
  )
    .map(({ items, hosts, texts }) => `\n${hostList(hosts)}: ${texts[0]!}\n${items[0]!.diff!}\n`)
    .join('');
