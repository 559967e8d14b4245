import { Refused } from '../errors.ts';
import type { MemberView } from '../facts/cluster.ts';
import type { Fleet, Observed } from '../facts/fleet.ts';
import type { Inventory } from '../model/inventory.ts';
import { peerAddress } from './lives-elsewhere.ts';
import { standing } from './standing.ts';

const NODE_IP = '--node-ip=';

/** The address with which the host's kubelet reports its node; undefined if it has no such argument: kbuild did not join it. */
function kubeletAddress({ facts }: Observed): string | undefined {
  if (facts.kubeletFlags === 'absent') return undefined;
  return facts.kubeletFlags.find((flag) => flag.startsWith(NODE_IP))?.slice(NODE_IP.length);
}

/** The address at which the other etcd members reach the host's member; undefined if it has none, or etcd does not answer. */
function memberAddress({ host }: Observed, { cluster }: Fleet): string | undefined {
  if (host.role === 'worker' || host.role === 'load-balancer') return undefined;
  const members: readonly MemberView[] =
    cluster.etcd?.state === 'up' ? cluster.etcd.members : cluster.state === 'up' ? cluster.members : [];
  const member = members.find(({ name }) => name === host.name);
  return member === undefined ? undefined : peerAddress(member);
}

/**
 * Why `up` does not change a joined host: the inventory gives it another internalAddress than the one with which it joined. kubelet, etcd, API
 * server, certificates and network plugin each hold that address, and etcd's members know it, so the kubelet alone must not get the other
 * one. undefined if the address is the same. Throws `FactError` when a fact that it needs is unknown.
 */
export function addressRefusal(inventory: Inventory, fleet: Fleet, observed: Observed): Refused | undefined {
  const { host, facts } = observed;
  if (standing({ inventory, host, facts, fleet }) !== 'joined') return undefined;
  const joined = [kubeletAddress(observed), memberAddress(observed, fleet)].find(
    (address) => address !== undefined && address !== '' && address !== host.internalAddress,
  );
  if (joined === undefined) return undefined;
  return new Refused(
    host.name,
    `it joined ${inventory.name} with the address ${joined}, and the inventory says ${host.internalAddress}`,
    `set its internalAddress back. To give it another one: \`kbuild remove ${host.name}\`, then edit it, then \`kbuild up\``,
  );
}
