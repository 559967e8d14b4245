import { isMemberOf } from '../cluster/members.ts';
import { failureOf } from '../engine/event.ts';
import { NotConverged, Refused } from '../errors.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { script } from '../templates.ts';
import { until } from '../wait.ts';
import { type DefragmentTools, etcdToDefragment, healthyAfter, PHASE } from './defragment-health.step.ts';
import {
  hasMuchToReclaim,
  hasNoSpace,
  isBelowQuota,
  isFragmented,
  memberName,
  needsRoom,
  RAISE_QUOTA,
  sizeText,
  spaceText,
} from './space.ts';
import { type EtcdView, type MemberView, withEtcd } from './view.facts.ts';

/** Time in ms between two observations whose sizes kbuild compares. */
const SETTLED_MS = 2000;
/**
 * Maximum number of rounds. A further round is needed if a member removes old revisions only after it was defragmented.
 */
const ROUNDS = 3;
/** kbuild writes and deletes this key to prove that etcd accepts writes. No key of Kubernetes begins like this. */
const PROOF_KEY = 'kbuild/defragment';

/** The members to defragment: those where it frees much space, or all members. */
type Chosen = 'fragmented' | 'all';

/** Views of etcd before and after a run. */
interface Defragmented {
  readonly before: EtcdView;
  readonly after: EtcdView;
  /** Ids of the members that were defragmented. */
  readonly done: ReadonlySet<string>;
}

/** The members that would be defragmented, in order: followers first, the leader last. */
export function membersToDefragment({ members, alarms }: EtcdView, chosen: Chosen): readonly MemberView[] {
  return inOrder(members.filter(chosen === 'all' || hasNoSpace(alarms) ? () => true : isFragmented));
}

const inOrder = (members: readonly MemberView[]): readonly MemberView[] =>
  members.toSorted((one, other) => Number(one.leader) - Number(other.leader) || (one.name < other.name ? -1 : 1));

/** The host of a member. @throws Refused if this run has not reached one */
function hostOf({ hosts }: DefragmentTools, member: MemberView): LinuxHost {
  const host = hosts.find((candidate) => isMemberOf(candidate)(member));
  if (host !== undefined) return host;
  throw new Refused(
    'unnamed-member',
    memberName(member),
    'it is a member of etcd, and no host of the inventory that kbuild reached',
    'name it in the inventory, or remove it from the cluster: `kbuild remove`',
  );
}

/** Carries out one change on a host, with its events. */
async function change(
  { emit, held, waiting }: DefragmentTools,
  { host, step, summary }: { readonly host: string; readonly step: string; readonly summary: string },
  apply: () => Promise<unknown>,
): Promise<void> {
  waiting.signal?.throwIfAborted();
  await held(host);
  const fromMs = waiting.nowMs();
  const place = { phase: PHASE, host, step };
  emit({ kind: 'changing', ...place, summary });
  try {
    await apply();
  } catch (error) {
    emit({ kind: 'failed', ...place, ...failureOf(error) });
    throw error;
  }
  emit({ kind: 'changed', ...place, summary, durationMs: waiting.nowMs() - fromMs });
}

/**
 * Compacts etcd to its current revision, and waits up to a minute until every member has removed the older revisions.
 */
async function compact(tools: DefragmentTools, { members }: EtcdView): Promise<void> {
  const { inventory, on, waiting } = tools;
  const host = hostOf(
    tools,
    members.find(({ leader }) => leader)!,
  );
  const about = { host: host.name, step: 'etcd-compacted', summary: 'compact etcd to its current revision' };
  await change(tools, about, () =>
    on(host).job('etcd-compact', withEtcd(inventory, host, script('etcd/etcd-compact.sh'))),
  );
  let last = '';
  // Under the alarm etcd accepts no writes. So if two observations report equal sizes, the other members have removed
  // their old revisions too.
  await until(
    async () => {
      const sizes = (await healthyAfter(tools, host)).members.map(({ dbSizeInUse }) => dbSizeInUse).join(' ');
      if (sizes === last) return sizes;
      last = sizes;
      return undefined;
    },
    waiting.nowMs() + 60_000,
    { ...waiting, everyMs: SETTLED_MS },
  );
}

/**
 * Defragments the chosen members one after another, each only while every member is healthy. Observes before each
 * member which one leads. Adds their ids to `done`.
 */
async function defragmentMembers(
  tools: DefragmentTools,
  isChosen: (member: MemberView) => boolean,
  done: Set<string>,
): Promise<void> {
  const { inventory, on, folderOf } = tools;
  const tried = new Set<string>();
  let host: Pick<LinuxHost, 'name'> = tools.hosts[0]!;
  for (;;) {
    const { members } = await healthyAfter(tools, host);
    const [next] = inOrder(members.filter((member) => !tried.has(member.id) && isChosen(member)));
    if (next === undefined) return;
    const its = hostOf(tools, next);
    const { dbSize, dbSizeInUse = dbSize } = next;
    const role = next.leader ? ', the leader' : '';
    const summary = `defragment etcd (${sizeText(dbSize)}, ${sizeText(dbSizeInUse)} in use${role})`;
    const command = script('etcd/etcd-defragment.sh', { FOLDER: folderOf(its), BYTES: dbSizeInUse });
    await change(tools, { host: its.name, step: 'etcd-defragmented', summary }, () =>
      on(its).job('etcd-defragment', withEtcd(inventory, its, command)),
    );
    tried.add(next.id);
    done.add(next.id);
    host = its;
  }
}

/**
 * Disarms the alarm, and proves with a write that etcd accepts writes. @throws NotConverged if a member still has no
 * room
 */
async function disarm(tools: DefragmentTools): Promise<void> {
  const { inventory, on } = tools;
  const { members } = await healthyAfter(tools, tools.hosts[0]!);
  const full = members.filter((member) => !isBelowQuota(member));
  if (full.length > 0)
    throw new NotConverged(
      'etcd',
      'etcd-disarmed',
      [`room below the quota; the alarm stays and etcd takes no writes: ${full.map(spaceText).join('; ')}`],
      `${RAISE_QUOTA}; then run the same command again`,
    );
  const host = hostOf(
    tools,
    members.find(({ leader }) => leader)!,
  );
  const summary = 'disarm the alarm NOSPACE, and write to etcd';
  await change(tools, { host: host.name, step: 'etcd-disarmed', summary }, () =>
    on(host).job('etcd-disarm', withEtcd(inventory, host, script('etcd/etcd-disarm.sh', { KEY: PROOF_KEY }))),
  );
}

/**
 * Makes room in etcd, in the order of its documentation ("Maintenance"). Under an alarm NOSPACE: compacts, defragments
 * every member that needs it, disarms the alarm when all databases are below their quota, and proves that etcd accepts
 * writes. Without an alarm it only defragments. Observes what an interrupted run has done, and does not repeat it. Does
 * not need the API.
 * @throws Refused, NotConverged, CommandError, ConnectError, FactError; the reason of an interrupted run
 */
export async function defragment(tools: DefragmentTools, chosen: Chosen): Promise<Defragmented> {
  const before = await etcdToDefragment(tools);
  for (const member of before.members) hostOf(tools, member);
  const done = new Set<string>();
  const isFull = hasNoSpace(before.alarms);
  if (isFull) await compact(tools, before);
  const needs = isFull ? needsRoom : isFragmented;
  await defragmentMembers(tools, chosen === 'all' ? () => true : needs, done);
  if (isFull) {
    const isLate = (member: MemberView): boolean => !isBelowQuota(member) && hasMuchToReclaim(member);
    for (let round = 1; round < ROUNDS; round++) await defragmentMembers(tools, isLate, done);
    await disarm(tools);
  }
  const after = await healthyAfter(tools, tools.hosts[0]!);
  if (isFull && hasNoSpace(after.alarms))
    throw new NotConverged('etcd', 'etcd-disarmed', [`no alarm (found ${after.alarms.join(', ')})`], RAISE_QUOTA);
  return { before, after, done };
}
