import { Refused } from '../errors.ts';
import { etcdAloneCommand, parseEtcd, type EtcdView } from '../facts/etcd-view.ts';
import { observedLinux, type Fleet } from '../facts/fleet.ts';
import type { Inventory } from '../model/inventory.ts';
import type { On } from '../remote/remote.ts';
import { gate } from './quorum.ts';

const REMEDY =
  'bring the members that are down back; if they are gone for good, put the others back to a snapshot: `kbuild etcd snapshot restore FILE --dead NAMES`';

/** What the first stacked member that tells anything knows by itself. */
async function aView(on: On, inventory: Inventory, fleet: Fleet): Promise<EtcdView | undefined> {
  for (const { host } of observedLinux(fleet).filter((one) => one.host.role === 'control-plane')) {
    try {
      return parseEtcd(await on(host).run(etcdAloneCommand(inventory)));
    } catch {
      // Another one may know; that the API does not answer is told anyway.
    }
  }
  return undefined;
}

/**
 * Why nobody can leave a cluster whose API does not answer: each member judged by the gate, with what etcd's members say of
 * themselves. undefined when that does not explain it. Throws nothing of its own.
 */
export async function quorumIsLost(
  on: On,
  inventory: Inventory,
  fleet: Fleet,
  names: readonly string[],
): Promise<Refused | undefined> {
  if (fleet.cluster.state !== 'down' || inventory.etcd.topology !== 'stacked') return undefined;
  const view = await aView(on, inventory, fleet);
  if (view === undefined) return undefined;
  const verdicts = view.members
    .filter(({ name }) => names.includes(name))
    .map(({ id }) => gate(view, { kind: 'remove', id }));
  const refused = verdicts.find(({ allowed }) => !allowed);
  return refused === undefined ? undefined : new Refused(names.join(', '), refused.why, REMEDY);
}
