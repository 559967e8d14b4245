import { gate, observeEtcd } from '../cluster/members.ts';
import type { Emit } from '../engine/event.ts';
import { FactError, NotConverged, Refused } from '../errors.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import type { On } from '../ssh/remote.ts';
import { until, type Waiting } from '../wait.ts';
import { docsPage } from '../versions.ts';
import { hasNoSpace, memberName } from './space.ts';
import type { EtcdView } from './view.facts.ts';

/** The name of the phase in events. */
export const PHASE = 'etcd-defragment';
/**
 * Limits for etcd to become healthy, in ms. When the run begins, a member may still be defragmenting for an earlier
 * run.
 */
const BEGINS_WITHIN_MS = 60_000;
const HEALTHY_WITHIN_MS = 3 * 60_000;
const OBSERVE_MS = 1000;
/** Interval in ms at which kbuild reports that it waits. */
const TELL_MS = 10_000;

/** The parts of a run that defragmenting needs. */
export interface DefragmentTools {
  readonly inventory: Inventory;
  readonly on: On;
  /** Hosts that may have members, as far as this run reached them. */
  readonly hosts: readonly LinuxHost[];
  /** The folder of etcd's data on a host. */
  readonly folderOf: (host: LinuxHost) => string;
  /** Resolves when this run holds the host's lock and may change it. */
  readonly held: (host: string) => Promise<unknown>;
  readonly emit: Emit;
  readonly waiting: Omit<Waiting, 'everyMs'>;
}

/** etcd as the first of its members that answers sees it. @throws FactError if none does */
async function viewOf({ inventory, on, hosts }: DefragmentTools): Promise<EtcdView> {
  const reasons: string[] = [];
  for (const host of hosts) {
    try {
      return await observeEtcd(inventory, on(host));
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new FactError('etcd', 'its members', reasons.join('; '));
}

/** The reason why kbuild may not defragment a member now; undefined if it may. */
function obstacle({ members }: EtcdView): string | undefined {
  // An alarm NOSPACE is no obstacle: the run removes its cause.
  const { allowed, why } = gate({ members, alarms: [] }, { kind: 'add' });
  if (!allowed) return why;
  if (!members.some(({ leader }) => leader)) return 'no leader answers';
  const untold = members.find(({ dbSizeInUse }) => dbSizeInUse === undefined);
  return untold === undefined ? undefined : `${memberName(untold)} did not tell its size`;
}

/**
 * @throws Refused for an alarm CORRUPT: `alarm disarm` would disarm this alarm too, and defragmenting could destroy
 * evidence of the corruption
 */
function refuseCorrupt({ alarms }: EtcdView): void {
  const others = alarms.filter((alarm) => !hasNoSpace([alarm]));
  if (others.length === 0) return;
  throw new Refused(
    'etcd-alarm',
    'etcd',
    `it has an alarm that kbuild does not disarm: ${others.join(', ')}`,
    `the data of that member differs from the others: see ${docsPage('operations.md#recover')}`,
  );
}

/**
 * Waits until every member of etcd votes, is healthy and has reported its size. Shows the wait at `host`. @throws the
 * error that `failed` makes of the reason, if that takes too long; Refused for an alarm CORRUPT
 */
async function healthyEtcd(
  tools: DefragmentTools,
  { host, withinMs, failed }: { host: string; withinMs: number; failed: (why: string) => Error },
): Promise<EtcdView> {
  const { waiting, emit } = tools;
  const fromMs = waiting.nowMs();
  let toldMs = -Infinity;
  let why = '';
  const found = await until(
    async () => {
      try {
        const view = await viewOf(tools);
        refuseCorrupt(view);
        why = obstacle(view) ?? '';
        if (why === '') return view;
      } catch (error) {
        if (!(error instanceof FactError)) throw error;
        why = error.message;
      }
      const nowMs = waiting.nowMs();
      if (nowMs - toldMs < TELL_MS) return undefined;
      toldMs = nowMs;
      const summary = `etcd with all its members healthy (found: ${why})`;
      emit({ kind: 'settling', phase: PHASE, host, step: 'etcd-healthy', summary, waitedMs: nowMs - fromMs });
      return undefined;
    },
    fromMs + withinMs,
    { ...waiting, everyMs: OBSERVE_MS },
  );
  if (found === undefined) throw failed(why);
  return found;
}

/**
 * etcd before the run changes it. A member may still be defragmenting for an earlier run. @throws Refused if a member
 * is down or a learner, or has an alarm CORRUPT: while a member is defragmented it does not answer, and if another
 * member is down, etcd may lose quorum
 */
export const etcdToDefragment = (tools: DefragmentTools): Promise<EtcdView> =>
  healthyEtcd(tools, {
    host: tools.hosts[0]?.name ?? 'etcd',
    withinMs: BEGINS_WITHIN_MS,
    failed: (why) =>
      new Refused(
        'quorum',
        'etcd',
        `a member does not answer while it is defragmented, and the other members must keep quorum: ${why}`,
        'see `kbuild status`; heal or remove the members that are down first',
      ),
  });

/** etcd after a change on this host. @throws NotConverged when it is not healthy in time */
export const healthyAfter = (tools: DefragmentTools, { name }: Pick<LinuxHost, 'name'>): Promise<EtcdView> =>
  healthyEtcd(tools, {
    host: name,
    withinMs: HEALTHY_WITHIN_MS,
    failed: (why) =>
      new NotConverged(
        name,
        'etcd-defragmented',
        [`every member of etcd healthy: ${why}`],
        'see the log of etcd there: crictl ps -a --name etcd, then crictl logs ID; then run the same command again',
      ),
  });
