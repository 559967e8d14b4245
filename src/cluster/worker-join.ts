import type { Fleet } from '../facts/fleet.ts';
import { Refused } from '../errors.ts';
import type { Inventory } from '../model/inventory.ts';
import type { On } from '../remote/remote.ts';
import type { Secret } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import { acting, liveCluster } from './acting.ts';
import { withJoinToken } from '../configuration/join-token.ts';
import { kubectl } from '../configuration/kubectl.ts';
import { nodeElsewhere, type Identity } from './lives-elsewhere.ts';

/** A worker, of whichever system, and the cluster that it joins; a step's `Target` is one. */
interface Joining extends Identity {
  readonly inventory: Inventory;
  readonly fleet: Fleet;
}

/** @throws Refused where the node of the host's name is Ready on another machine: it is not deleted for this host's join. */
export function refuseElsewhere(joining: Identity & { readonly fleet: Fleet }): void {
  const elsewhere = nodeElsewhere(joining, joining.fleet);
  if (elsewhere !== undefined) throw new Refused(joining.host.name, elsewhere);
}

/** The join of a worker in words, with what was found of its earlier life. @throws Refused like `refuseElsewhere` */
export function workerJoinText(joining: Joining): string {
  refuseElsewhere(joining);
  const { inventory, host } = joining;
  const { cluster } = joining.fleet;
  const stale = cluster.state === 'up' && cluster.nodes.some(({ name }) => name === host.name);
  return `join ${host.name} to ${inventory.endpoint} as a worker${stale ? ' (found a stale node of that name)' : ''}`;
}

/**
 * Does the cluster's part of a worker's join and lends `join` what it finds the cluster by: a token that is minted for it and
 * deleted afterwards, and the CA's hash. @throws what `liveCluster` and `withJoinToken` throw
 */
export async function withWorkerJoin(
  { inventory, host, fleet }: Joining,
  on: On,
  join: (discovery: { readonly token: Secret; readonly caHash: string }) => Promise<void>,
): Promise<void> {
  const { caFingerprint, nodes } = liveCluster(fleet);
  const control = acting(fleet);
  // A host that came back empty: kubeadm refuses to join while a node of its name still counts as Ready.
  if (nodes.some(({ name }) => name === host.name))
    await on(control).run(sh`${kubectl(inventory, control)} delete node --ignore-not-found ${host.name}`);
  await withJoinToken(on(control), inventory, host.name, (token) => join({ token, caHash: caFingerprint }));
}
