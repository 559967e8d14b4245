import { FactError, Refused } from '../errors.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { type Fleet, observedLinux } from './fleet/fleet.ts';
import type { EtcdState } from './fleet/view.ts';
import { acting } from './live.ts';
import { isMemberOf } from './members.ts';

/** The etcd that kbuild built. @throws FactError if it does not answer; Refused if there is none. */
export function liveEtcd({ cluster }: Fleet): Extract<EtcdState, { readonly state: 'up' }> {
  const { etcd = { state: 'absent' } } = cluster;
  if (etcd.state === 'down') throw new FactError('etcd', 'its members', etcd.reason);
  if (etcd.state === 'absent') throw new Refused('no-etcd', 'etcd', 'no host of role etcd runs it yet');
  return etcd;
}

/**
 * The host through whose etcd member kbuild queries, changes and backs up etcd: a healthy voter, never `except`. With
 * stacked etcd, the acting control plane. Throws like `acting` and `liveEtcd`, and Refused if there is no other.
 */
export function memberHost(inventory: Inventory, fleet: Fleet, except?: string): LinuxHost {
  if (inventory.etcd.topology !== 'built') return acting(fleet, except);
  const { members, via } = liveEtcd(fleet);
  const healthy = observedLinux(fleet)
    .map(({ host }) => host)
    .filter((host) => host.role === 'etcd' && host.name !== except)
    .filter((host) => members.some((member) => isMemberOf(host)(member) && member.healthy && !member.learner));
  const found = healthy.find(({ name }) => name === via) ?? healthy[0];
  if (found !== undefined) return found;
  throw new Refused(
    'no-healthy-member',
    'etcd',
    `no member is healthy${except === undefined ? '' : ` beside that of ${except}`}`,
  );
}
