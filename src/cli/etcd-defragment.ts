import { isMemberOf } from '../cluster/members.ts';
import { etcdToDefragment, type DefragmentTools } from '../etcd/defragment-health.ts';
import { defragment, membersToDefragment } from '../etcd/defragment.ts';
import { Refused } from '../errors.ts';
import type { EtcdView } from '../facts/etcd-view.ts';
import { linuxFacts, observedHost } from '../facts/fleet.ts';
import type { LinuxHost } from '../model/inventory.ts';
import { paths } from '../paths.ts';
import { defragmentedJson, defragmentedText, defragmentPlanText, spaceLeftText } from '../report/defragmented.ts';
import { jsonDocument } from '../report/json.ts';
import { controlPlanes, etcdHosts } from '../topology/select.ts';
import { pause } from '../until.ts';
import type { DefragmentOptions } from './commands/etcd-defragment.ts';
import type { Context } from './context.ts';
import { refuseUnreachable } from './session/dead-hosts.ts';
import { withHostLocks } from './session/locks.ts';
import { refuseForeign } from './session/preflight.ts';
import { confirmed, reportNothingToDo } from './session/run-plan.ts';
import type { Run } from './session/run.ts';
import { withRun } from './session/with-run.ts';

/** @throws Refused if etcd is the user's own: kbuild does not manage it */
function refuseOwnEtcd({ inventory }: Run): void {
  const { etcd } = inventory;
  if (etcd.topology !== 'external') return;
  throw new Refused(
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
  throw new Refused(inventory.name, 'no host runs etcd yet', 'build the cluster: `kbuild up`');
}

/** @throws the errors of hosts with a member that this run could not reach: each member is defragmented on its own host */
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
 * `kbuild etcd defragment`: makes room in etcd. It takes the locks of the hosts, and not the Lease: under the alarm NOSPACE the
 * API takes no writes, and only members that are all in this inventory are changed, by their hosts.
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
