import { FactError, Refused } from '../errors.ts';
import type { MemberView } from '../etcd/view.facts.ts';
import { addressesOf } from '../inventory/addresses.ts';
import { selects } from '../inventory/hosts.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import type { Fleet, Observed } from './fleet/fleet.ts';
import { isControlPlane } from './fleet/joined.ts';
import { hostRefusal } from './host.refusal.ts';
import { peerAddress } from './identity.ts';
import { standing } from './standing.ts';

const NODE_IP = '--node-ip=';

/**
 * The address with which the host's kubelet reports its node; undefined if it has no such argument: kbuild did not join
 * it.
 */
function kubeletAddress({ facts }: Observed): string | undefined {
  if (facts.kubeletFlags === 'absent') return undefined;
  return facts.kubeletFlags.find((flag) => flag.startsWith(NODE_IP))?.slice(NODE_IP.length);
}

/**
 * The address at which the other etcd members reach the host's member; undefined if it has none, or etcd does not
 * answer.
 */
function memberAddress({ host }: Observed, { cluster }: Fleet): string | undefined {
  if (host.role === 'worker' || host.role === 'load-balancer') return undefined;
  const members: readonly MemberView[] =
    cluster.etcd?.state === 'up' ? cluster.etcd.members : cluster.state === 'up' ? cluster.members : [];
  const member = members.find(({ name }) => name === host.name);
  return member === undefined ? undefined : peerAddress(member);
}

/**
 * Why `up` does not change a joined host: the inventory gives it another internalAddress than the one with which it
 * joined. kubelet, etcd, API server, certificates and network plugin each hold that address, and etcd's members know
 * it, so the kubelet alone must not get the other one. undefined if the address is the same. Throws `FactError` when a
 * fact that it needs is unknown.
 */
function addressRefusal(inventory: Inventory, fleet: Fleet, observed: Observed) {
  const { host, facts } = observed;
  if (standing({ inventory, host, facts, fleet }) !== 'joined') return undefined;
  const [node, member] = [kubeletAddress(observed), memberAddress(observed, fleet)];
  const wanted = addressesOf(host).join(',');
  const isOther = (address: string | undefined, than: string): boolean =>
    address !== undefined && address !== '' && address !== than;
  const joined = isOther(node, wanted) ? node : isOther(member, host.internalAddress) ? member : undefined;
  if (joined === undefined) return undefined;
  return new Refused(
    'address-changed',
    host.name,
    `it joined ${inventory.name} with the address ${joined}, and the inventory says ${wanted}`,
    `set its internalAddress back. To give it another one: \`kbuild remove ${host.name}\`, then edit it, then ` +
      '`kbuild up`',
  );
}

export interface LeftOut {
  readonly host: Host;
  readonly error: Error;
}

/**
 * Why `up` does not change a joined host: the inventory gives it another role than it has. undefined if the role is the
 * same. Throws `FactError` when a fact that it needs is unknown.
 */
function roleRefusal(inventory: Inventory, fleet: Fleet, { host, facts }: Observed) {
  if (host.role !== 'control-plane' && host.role !== 'worker') return undefined;
  const is = isControlPlane(facts.kubernetesTraces) ? 'control-plane' : 'worker';
  if (is === host.role || standing({ inventory, host, facts, fleet }) !== 'joined') return undefined;
  const call = (role: string): string => role.replace('-', ' ');
  return new Refused(
    'role-changed',
    host.name,
    `it is a ${call(is)} of ${inventory.name}, and the inventory calls it a ${call(host.role)}`,
    `set its role back, or run \`kbuild remove ${host.name}\` and then \`kbuild up\``,
  );
}

/**
 * Why `up` does not change a joined host: it joined with another role or address. Throws `FactError` when a fact that
 * it needs is unknown.
 */
export const joinedRefusal = (
  inventory: Inventory,
  fleet: Fleet,
  observed: Observed,
): Refused<'role-changed' | 'address-changed'> | undefined =>
  roleRefusal(inventory, fleet, observed) ?? addressRefusal(inventory, fleet, observed);

/**
 * The workers among `hosts` (patterns) that `up` leaves out while it changes the other hosts: refused workers, and
 * those for which an unknown fact prevents a decision.
 */
export function refusedWorkers(
  inventory: Inventory,
  fleet: Fleet,
  hosts: readonly string[] | undefined,
): readonly LeftOut[] {
  return fleet.hosts
    .filter(({ host }) => host.role === 'worker' && selects(hosts, host.name))
    .flatMap((observed): readonly LeftOut[] => {
      try {
        const error =
          hostRefusal(inventory, fleet, observed, 'moves runtimes') ?? joinedRefusal(inventory, fleet, observed);
        return error === undefined ? [] : [{ host: observed.host, error }];
      } catch (error) {
        if (error instanceof FactError && error.host === observed.host.name) return [{ host: observed.host, error }];
        throw error;
      }
    });
}
