import { grouped } from '../grouped.ts';
import { hostList } from '../host-list.ts';
import type { RecordedFinding, RunRecord } from '../record/line.ts';
import { lineOf } from './line-of.ts';

/** The same finding of several hosts. */
export interface FindingView {
  readonly severity: RecordedFinding['severity'];
  readonly check: string;
  /** Empty: about the whole fleet. */
  readonly hosts: string;
  readonly message: string;
  /** Empty: none. */
  readonly remedy: string;
  readonly isIgnored: boolean;
}

/** The findings of a run's checks, grouped as in the terminal; undefined: no check ran. Pure. */
export function findingsOf(record: RunRecord): readonly FindingView[] | undefined {
  const line = lineOf(record, 'findings');
  if (line === undefined) return undefined;
  return grouped(
    line.findings,
    ({ severity, check, ignored }) => JSON.stringify([severity, check, ignored]),
    ({ message, remedy }) => [message, remedy ?? ''],
  ).map(({ items, hosts, texts: [message = '', remedy = ''] }) => {
    const { severity, check, ignored } = items[0]!;
    return { severity, check, hosts: hostList(hosts), message, remedy, isIgnored: ignored === true };
  });
}
