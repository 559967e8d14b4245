import { linuxFacts, observedHost } from '../cluster/fleet/fleet.ts';
import { isMemberOf } from '../cluster/members.ts';
import { Refused } from '../errors.ts';
import { type DefragmentTools, etcdToDefragment } from '../etcd/defragment-health.step.ts';
import { defragment, membersToDefragment } from '../etcd/defragment.step.ts';
import { memberName, reclaimableOf, sizeText, spaceFindings } from '../etcd/space.ts';
import type { EtcdView, MemberView } from '../etcd/view.facts.ts';
import { controlPlanes, etcdHosts } from '../inventory/hosts.ts';
import type { LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { type DocumentOf, jsonDocument } from '../report/json.ts';
import type { Context } from '../session/context.ts';
import { withHostLocks } from '../session/locks.ts';
import { refuseForeign } from '../session/preflight.ts';
import { confirmed, reportNothingToDo, type Run } from '../session/run.ts';
import { refuseUnreachable } from '../session/selection.ts';
import { withRun } from '../session/with-run.ts';
import { pause } from '../wait.ts';
import type { DefragmentOptions } from './etcd.command.ts';

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

/** @throws Refused if etcd is the user's own: kbuild does not manage it */
function refuseOwnEtcd({ inventory }: Run): void {
  const { etcd } = inventory;
  if (etcd.topology !== 'external') return;
  throw new Refused(
    'external-etcd',
    inventory.name,
    `its etcd is your own (${etcd.endpoints.join(', ')}), and kbuild does not change its members`,
    'use etcdctl defrag on its members one after another, the leader last',
  );
}

/** The reached hosts that have a member of etcd. @throws Refused where none has, FactError where that is unknown */
function memberHosts({ inventory, connected }: Run): readonly LinuxHost[] {
  const fleet = connected.observations.fleet();
  const candidates = inventory.etcd.topology === 'built' ? etcdHosts(inventory) : controlPlanes(inventory);
  const hosts = candidates.filter((host) => linuxFacts(fleet, host)?.kubernetesTraces.has(paths.etcdManifest) === true);
  if (hosts.length > 0 || candidates.some(({ name }) => observedHost(fleet, name) === undefined)) return hosts;
  throw new Refused('no-etcd', inventory.name, 'no host runs etcd yet', 'build the cluster: `kbuild up`');
}

/**
 * @throws the errors of hosts with a member that this run could not reach: each member is defragmented on its own host
 */
const refuseUnreachedMembers = (run: Run, isNeeded: (host: LinuxHost) => boolean): void => {
  refuseUnreachable(
    run,
    (host) => host.os === 'linux' && isNeeded(host),
    (names) => `make ${names.join(', ')} reachable: every member of etcd is defragmented on its own host`,
  );
};

/** Everything but the locks. */
function toolsOf({ connected, inventory, emit, signal, context }: Run, hosts: readonly LinuxHost[]): DefragmentTools {
  return {
    inventory,
    on: connected.on,
    hosts,
    folderOf: (host) => linuxFacts(connected.observations.fleet(), host)?.etcdFolder ?? paths.etcdData,
    held: () => Promise.resolve(),
    emit,
    waiting: { pause, nowMs: context.nowMs, signal },
  };
}

/** Shows etcd's space and what would be done. False: the operator declines, or nothing needs to be done. */
async function agreed(run: Run, view: EtcdView, flags: DefragmentOptions): Promise<boolean> {
  const { context, inventory } = run;
  const chosen = membersToDefragment(view, flags.all === true ? 'all' : 'fragmented');
  context.err(defragmentPlanText(inventory.name, view, chosen));
  if (chosen.length > 0) return confirmed(run, `Defragment etcd on ${chosen.map(({ name }) => name).join(', ')}?`);
  context.err(spaceLeftText(view));
  const untouched = { before: view, after: view, done: new Set<string>() };
  if (flags.json === true) context.out(jsonDocument<'defragment'>(defragmentedJson(inventory.name, untouched)));
  else reportNothingToDo(run);
  return false;
}

/**
 * `kbuild etcd defragment`: makes room in etcd. It takes the locks of the hosts, and not the Lease: under the alarm
 * NOSPACE the API takes no writes, and only members that are all in this inventory are changed, by their hosts.
 */
export const runDefragment = (outer: Context, flags: DefragmentOptions): Promise<number> =>
  withRun(outer, flags, { command: 'etcd defragment', json: 'document' }, async (run) => {
    const { connected, context, inventory, abort } = run;
    refuseOwnEtcd(run);
    const hosts = memberHosts(run);
    if (hosts.length === 0) refuseUnreachedMembers(run, ({ role }) => role === 'control-plane' || role === 'etcd');
    const names = hosts.map(({ name }) => name);
    refuseForeign(run, names);
    const tools = toolsOf(run, hosts);
    const view = await etcdToDefragment(tools);
    refuseUnreachedMembers(run, (host) => view.members.some(isMemberOf(host)));
    if (!(await agreed(run, view, flags))) return 0;
    return withHostLocks(run, async (lock) => {
      void lock.lost.then(abort);
      // Another run may have changed the hosts before this one had the locks.
      await connected.observeAgain();
      refuseForeign(run, names);
      const result = await defragment({ ...tools, held: lock.held }, flags.all === true ? 'all' : 'fragmented');
      context.err(spaceLeftText(result.after));
      context.out(
        flags.json === true
          ? jsonDocument<'defragment'>(defragmentedJson(inventory.name, result))
          : defragmentedText(result),
      );
      return 0;
    });
  });
