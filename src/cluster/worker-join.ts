import type { Fleet } from '../facts/fleet.ts';
import type { Host, Inventory } from '../inventory/inventory.ts';
import type { On } from '../remote/remote.ts';
import type { Secret } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import { acting, liveCluster } from './acting.ts';
import { withJoinToken } from './join-token.ts';
import { kubectl } from './kubectl.ts';

/** A worker, of whichever system, and the cluster that it joins; a step's `Target` is one. */
interface Joining {
  readonly inventory: Inventory;
  readonly host: Host;
  readonly fleet: Fleet;
}

/** The join of a worker in words, with what was found of its earlier life. */
export function workerJoinText({ inventory, host, fleet: { cluster } }: Joining): string {
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
