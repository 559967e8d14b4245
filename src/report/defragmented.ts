import { memberName, reclaimableOf, sizeText, spaceFindings } from '../cluster/etcd-space.ts';
import type { MemberView } from '../facts/cluster.ts';
import type { EtcdView } from '../facts/etcd-view.ts';
import type { DocumentOf } from './documents/index.ts';

/** What a defragmentation found and did. */
interface Defragmented {
  readonly before: EtcdView;
  readonly after: EtcdView;
  readonly done: ReadonlySet<string>;
}

const quotaText = ({ dbSizeQuota }: MemberView): string =>
  dbSizeQuota === undefined ? 'unknown' : dbSizeQuota <= 0 ? 'none' : sizeText(dbSizeQuota);

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd();
  return `${rows.map(line).join('\n')}\n`;
}

/** What would be defragmented, in this order, and why the rest is left. */
export function defragmentPlanText(
  cluster: string,
  { members, alarms }: EtcdView,
  chosen: readonly MemberView[],
): string {
  const order = new Map(chosen.map(({ id }, index) => [id, String(index + 1)]));
  const rows = members
    .toSorted((one, other) => Number(order.get(one.id) ?? Infinity) - Number(order.get(other.id) ?? Infinity))
    .map((member) => [
      order.get(member.id) ?? '-',
      memberName(member),
      member.leader ? 'leader' : 'follower',
      sizeText(member.dbSize),
      sizeText(member.dbSizeInUse ?? member.dbSize),
      sizeText(reclaimableOf(member)),
      quotaText(member),
    ]);
  return [
    `etcd of ${cluster}${alarms.length === 0 ? '' : `, with the alarm ${alarms.join(', ')}`}\n`,
    table([['ORDER', 'MEMBER', 'ROLE', 'SIZE', 'IN USE', 'TO RECLAIM', 'QUOTA'], ...rows]),
    ...(alarms.length === 0
      ? []
      : ['kbuild compacts etcd to its current revision first, and disarms the alarm when there is room\n']),
    ...(chosen.length === 0 ? [] : ['one member at a time; each answers nothing while it copies its data\n']),
  ].join('');
}

/** The sizes of each member before and after. */
export function defragmentedText({ before, after, done }: Defragmented): string {
  const rows = after.members.map((member) => {
    const earlier = before.members.find(({ id }) => id === member.id) ?? member;
    return [
      memberName(member),
      sizeText(earlier.dbSize),
      done.has(member.id) ? sizeText(member.dbSize) : 'left',
      sizeText(member.dbSizeInUse ?? member.dbSize),
      quotaText(member),
    ];
  });
  const isDisarmed = before.alarms.length > 0 && after.alarms.length === 0;
  return `${table([['MEMBER', 'BEFORE', 'AFTER', 'IN USE', 'QUOTA'], ...rows])}${
    isDisarmed ? 'the alarm NOSPACE is disarmed, and etcd takes writes again\n' : ''
  }`;
}

/** The warnings about what is left of the quota, one a line; empty if there are none. */
export const spaceLeftText = ({ members, alarms }: EtcdView): string =>
  spaceFindings(members, alarms)
    .map(({ message, remedy }) => `warning: etcd: ${message}\n  → ${remedy}\n`)
    .join('');

/** The same for programs: sizes in bytes. */
export const defragmentedJson = (cluster: string, { before, after, done }: Defragmented): DocumentOf<'defragment'> => ({
  cluster,
  alarms: { before: before.alarms, after: after.alarms },
  members: after.members.map(({ id, name, leader, dbSize, dbSizeInUse, dbSizeQuota }) => {
    const earlier = before.members.find((member) => member.id === id);
    return {
      id,
      name,
      leader,
      defragmented: done.has(id),
      dbSizeBefore: earlier?.dbSize,
      dbSizeInUseBefore: earlier?.dbSizeInUse,
      dbSize,
      dbSizeInUse,
      dbSizeQuota,
    };
  }),
  warnings: spaceFindings(after.members, after.alarms).map(({ message, remedy }) => ({ message, remedy })),
});
