import type { MemberView } from './view.facts.ts';

const MIB = 1024 * 1024;

/** Above this share of its quota a database is nearly full. etcd itself gives no warning before its alarm. */
const NEARLY_FULL = 0.8;
/**
 * Defragmenting must free at least this much: the member does not answer meanwhile, and less is not worth that time.
 */
const WORTH_SHARE = 0.1;
const WORTH_BYTES = 10 * MIB;

/** The command that makes room in etcd. */
export const DEFRAGMENT = '`kbuild etcd defragment`';

/** What to do if the data itself fills the quota. etcd's documentation ("System limits") suggests at most 8 GiB. */
export const RAISE_QUOTA =
  'raise the quota, `quota-backend-bytes` in `kubeadm.cluster.etcd.local.extraArgs` of the inventory (etcd ' +
  'suggests at most 8 GiB), or delete what fills it';

/** The space of one member, as far as kbuild knows it. */
type MemberSpace = Pick<MemberView, 'name' | 'id' | 'dbSize' | 'dbSizeInUse' | 'dbSizeQuota'>;

/** True if one of these alarms is NOSPACE: the database of a member reached its quota, and no member takes writes. */
export const hasNoSpace = (alarms: readonly string[]): boolean => alarms.some((alarm) => alarm.startsWith('NOSPACE'));

/** Bytes as text for an operator. */
export const sizeText = (bytes: number): string => `${(bytes / MIB).toFixed(bytes < 100 * MIB ? 1 : 0)} MiB`;

/** Bytes that defragmenting a member would free; 0 if the member did not report its sizes. */
export const reclaimableOf = ({ dbSize, dbSizeInUse = dbSize }: MemberSpace): number =>
  Math.max(0, dbSize - dbSizeInUse);

/** True for a member of which a tenth or more is free pages. */
export const hasMuchToReclaim = (member: MemberSpace): boolean =>
  reclaimableOf(member) > 0 && reclaimableOf(member) >= member.dbSize * WORTH_SHARE;

/** True for a member with so many free pages that defragmenting it is worth the time. */
export const isFragmented = (member: MemberSpace): boolean =>
  hasMuchToReclaim(member) && reclaimableOf(member) >= WORTH_BYTES;

/**
 * The share of a member's quota that so many bytes take; undefined without a quota, or if the member did not report it.
 */
function shareOfQuota({ dbSizeQuota }: MemberSpace, bytes: number): number | undefined {
  return dbSizeQuota === undefined || dbSizeQuota <= 0 ? undefined : bytes / dbSizeQuota;
}

/** True for a member whose database, free pages included, comes near its quota. */
const isNearlyFull = (member: MemberSpace): boolean => (shareOfQuota(member, member.dbSize) ?? 0) > NEARLY_FULL;

/** True for a member whose data alone comes near its quota: defragmenting cannot help it for long. */
const isQuotaTooSmall = (member: MemberSpace): boolean =>
  (shareOfQuota(member, member.dbSizeInUse ?? member.dbSize) ?? 0) > NEARLY_FULL;

/**
 * True for a member whose database is below its quota. False while the quota is unknown: kbuild disarms the alarm only
 * when it knows that there is room.
 */
export const isBelowQuota = (member: MemberSpace): boolean =>
  member.dbSizeQuota !== undefined && (shareOfQuota(member, member.dbSize) ?? 0) < 1;

/** True for a member that kbuild defragments under the alarm NOSPACE, even if its database is small. */
export const needsRoom = (member: MemberSpace): boolean => isNearlyFull(member) || hasMuchToReclaim(member);

/** The name of a member, or its id while it has not started. */
export const memberName = ({ name, id }: Pick<MemberView, 'name' | 'id'>): string =>
  name === '' ? `member ${id}` : name;

/** The space of a member as text, e.g. `cp1 has 1700 MiB (1650 MiB in use) of its quota of 2048 MiB`. */
export function spaceText(member: MemberSpace): string {
  const { dbSize, dbSizeInUse, dbSizeQuota } = member;
  const used = dbSizeInUse === undefined ? '' : ` (${sizeText(dbSizeInUse)} in use)`;
  const quota = dbSizeQuota === undefined || dbSizeQuota <= 0 ? '' : ` of its quota of ${sizeText(dbSizeQuota)}`;
  return `${memberName(member)} has ${sizeText(dbSize)}${used}${quota}`;
}

/** A finding about etcd's space. */
interface SpaceFinding {
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly remedy: string;
}

/**
 * Findings about etcd's space: the alarm NOSPACE, or else the member that is nearest to its quota. Under the alarm the
 * findings do not judge the quota: until etcd is compacted, the data in use includes old revisions.
 */
export function spaceFindings(members: readonly MemberSpace[], alarms: readonly string[]): readonly SpaceFinding[] {
  if (hasNoSpace(alarms))
    return [
      {
        severity: 'error',
        message: `etcd is full and takes no writes, so nothing in the cluster can change (${alarms.join(', ')})`,
        remedy: DEFRAGMENT,
      },
    ];
  const share = (member: MemberSpace): number => shareOfQuota(member, member.dbSize) ?? 0;
  const [fullest] = members.filter(isNearlyFull).toSorted((one, other) => share(other) - share(one));
  if (fullest === undefined) return [];
  const remedy = isQuotaTooSmall(fullest) ? RAISE_QUOTA : DEFRAGMENT;
  return [{ severity: 'warning', message: `${spaceText(fullest)}: when it is full, etcd takes no writes`, remedy }];
}
