import { FactError, Refused } from '../errors.ts';
import { etcdAloneCommand, type EtcdView, parseEtcd } from '../etcd/view.facts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import type { On } from '../ssh/remote.ts';
import { type Fleet, observedLinux } from './fleet/fleet.ts';
import type { EtcdState } from './fleet/view.ts';
import { acting } from './live.ts';
import { gate, isMemberOf } from './members.ts';
import { lastReason, reason, type Reason, type Seen } from './reasons.ts';

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

const REMEDY =
  'bring the members that are down back; if they are gone for good, go on with what the only one that is left ' +
  'has: `kbuild etcd recover --dead NAMES`, or put the others back to a snapshot: `kbuild etcd snapshot restore ' +
  'FILE --dead NAMES`';

/** etcd as the first stacked member that answers sees it; undefined if none answers. */
async function anyView(on: On, inventory: Inventory, fleet: Fleet): Promise<EtcdView | undefined> {
  for (const { host } of observedLinux(fleet).filter((observed) => observed.host.role === 'control-plane')) {
    try {
      return parseEtcd(await on(host).run(etcdAloneCommand(inventory, host)));
    } catch {
      // Another member may answer. The caller reports that the API does not.
    }
  }
  return undefined;
}

/** The control planes and etcd hosts that `--dead` names, which the run does without. */
export const deadMembers = ({ unreachable }: Fleet): readonly string[] =>
  unreachable
    .filter(({ host, isDead }) => isDead === true && (host.role === 'control-plane' || host.role === 'etcd'))
    .map(({ host }) => host.name);

/**
 * Why no host can leave a cluster whose API does not answer: the verdict of the quorum gate on each member, from what
 * etcd's members report. undefined if quorum is not the reason. Does not throw.
 */
export async function quorumIsLost(
  on: On,
  inventory: Inventory,
  fleet: Fleet,
  names: readonly string[],
): Promise<Refused<'quorum-lost'> | undefined> {
  if (fleet.cluster.state !== 'down' || inventory.etcd.topology !== 'stacked') return undefined;
  const view = await anyView(on, inventory, fleet);
  if (view === undefined) return undefined;
  const verdicts = view.members
    .filter(({ name }) => names.includes(name))
    .map(({ id }) => gate(view, { kind: 'remove', id }));
  const refused = verdicts.find(({ allowed }) => !allowed);
  return refused === undefined ? undefined : new Refused('quorum-lost', names.join(', '), refused.why, REMEDY);
}

/** Why a command does not start without the hosts that `--dead` names. `lost`: as `quorumIsLost` has it for them. */
export const deadReasons: readonly Reason<Seen & { readonly lost: Refused<'quorum-lost'> | undefined }>[] = [
  lastReason(['quorum-lost'], ({ lost }) => lost),
  reason(['cluster-down'], ({ fleet }) => {
    const { cluster } = fleet;
    const names = deadMembers(fleet);
    if (cluster.state !== 'down' || names.length === 0) return undefined;
    return new Refused(
      'cluster-down',
      names.join(', '),
      `the API does not answer without ${names.length === 1 ? 'this host' : 'these hosts'}, and every change ` +
        `needs it (${cluster.reason})`,
      'run the command again in a minute; if the API still does not answer, bring the hosts back first',
    );
  }),
];
