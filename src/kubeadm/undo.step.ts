import { linuxFacts } from '../cluster/fleet/fleet.ts';
import { isControlPlane } from '../cluster/fleet/joined.ts';
import { acting } from '../cluster/live.ts';
import { memberHost } from '../cluster/member-host.ts';
import { type BeforeMembership, gate, type KeepData, membersOf, removeMembers } from '../cluster/members.ts';
import { hasOwnMarker, mayLackAddons, refuseUndo, standing, undoObstacle } from '../cluster/standing.ts';
import type { Seen } from '../cluster/standings.ts';
import type { Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import type { MemberView } from '../etcd/view.facts.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import { secretYaml } from '../shell/yaml.ts';
import { resetConfiguration } from './config.ts';
import { forgetKeys, kubeadmJob } from './run-kubeadm.step.ts';

/**
 * Why kbuild has to wait until it knows whether what is half-finished on a host is to be undone. undefined: it need
 * not.
 */
function whyNotYet(target: Seen): string | undefined {
  const { inventory, host, facts, fleet } = target;
  const { cluster } = fleet;
  if (standing(target) === 'partial') return undoObstacle(target);
  return cluster.state === 'down' && hasOwnMarker(inventory, facts) && mayLackAddons(target)
    ? `the API tells whether the init on ${host.name} had ended (${cluster.reason})`
    : undefined;
}

/**
 * Waits for the API before kbuild undoes a half-finished action on a host, if other hosts have joined the cluster, or
 * if the action may have ended after all. Hosts that joined before that is known would have the init count as complete.
 */
export const undoMayBegin: Step & Step<'windows'> = {
  name: 'undo-may-begin',
  settleMs: 5 * 60_000,
  diff: (target: Seen) => {
    const why = whyNotYet(target);
    return why === undefined
      ? []
      : [{ summary: `wait before what is half-finished on ${target.host.name} is undone: ${why}` }];
  },
};

/**
 * The etcd member of a half-finished control plane, which kbuild removes. @throws Refused if the quorum gate refuses
 */
function memberToGo({ host, fleet: { cluster } }: Target): MemberView | undefined {
  if (host.role !== 'control-plane' || cluster.state !== 'up') return undefined;
  const [member] = membersOf(cluster, host);
  // The only member is the founder's. Undoing its init deletes etcd's data with it.
  if (member === undefined || cluster.members.length === 1) return undefined;
  const { allowed, why } = gate(cluster, { kind: 'remove', id: member.id });
  if (!allowed) throw new Refused('quorum', host.name, `its etcd member ${member.id} cannot be removed: ${why}`);
  return member;
}

/**
 * True for a half-finished init with keys in an etcd on hosts of role etcd, if no other host has joined. kubeadm's
 * reset does not delete these keys, and the next init would find them.
 */
function hasKeysInBuiltEtcd({ inventory, host, facts, fleet }: Target): boolean {
  if (inventory.etcd.topology !== 'built' || host.role !== 'control-plane') return false;
  if (typeof facts.marker !== 'object' || facts.marker.action !== 'init' || fleet.cluster.etcd?.state !== 'up')
    return false;
  const { cluster } = fleet;
  if (cluster.state === 'up' && cluster.nodes.some(({ name }) => name !== host.name)) return false;
  // A control plane uses the keys even if its node was deleted or it lost its admin.conf.
  return controlPlanes(inventory)
    .filter(({ name }) => name !== host.name)
    .every((other) => {
      const facts = linuxFacts(fleet, other);
      return facts !== undefined && !isControlPlane(facts.kubernetesTraces);
    });
}

/**
 * Undoes a half-finished init, join or reset of kbuild, so that it can be repeated. Saves etcd's data of the host
 * first, then removes a control plane's etcd member through the quorum gate.
 */
export const undoHalfFinished = (before: BeforeMembership, keep: KeepData): Step => ({
  name: 'undo-half-finished',
  diff: (target) => {
    if (standing(target) !== 'partial') return [];
    const { inventory, host, facts, fleet } = target;
    const action = typeof facts.marker === 'object' ? facts.marker.action : 'init';
    const member = memberToGo(target);
    const and = member === undefined ? '' : ` and its etcd ${member.learner ? 'learner' : 'member'} ${member.id}`;
    return [
      {
        summary:
          `undo a half-finished ${action} of ${inventory.name} (found ${String(facts.kubernetesTraces.size)} ` +
          `leftovers${and})`,
        apply: async (on) => {
          refuseUndo(target);
          await keep(on, host);
          if (member !== undefined) {
            const control = acting(fleet, host.name);
            await before(on, control, `before ${host.name} was undone`);
            await removeMembers(inventory, on(control), host);
          }
          if (hasKeysInBuiltEtcd(target)) {
            const through = memberHost(inventory, fleet);
            await before(on, through, `before the init on ${host.name} was undone`);
            await forgetKeys(on, inventory, host, through);
          }
          await kubeadmJob(on(host), inventory, 'reset', secretYaml([resetConfiguration(inventory, host)]));
        },
      },
    ];
  },
});
