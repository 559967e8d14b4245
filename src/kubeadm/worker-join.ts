import type { Fleet } from '../cluster/fleet/fleet.ts';
import { type Identity, nodeElsewhere } from '../cluster/identity.ts';
import { acting, liveCluster } from '../cluster/live.ts';
import { Refused } from '../errors.ts';
import { kubectl } from '../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { revealed, Secret } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import type { On, Remote } from '../ssh/remote.ts';
import { TOKEN_DESCRIPTION } from './config.ts';

/** Lifetime of a token that kbuild could not delete. It is longer than any join. */
const TTL = '30m';

/** A bootstrap token as kubeadm prints it. */
const TOKEN = /^([a-z0-9]{6})\.[a-z0-9]{16}$/m;

/** Deletes bootstrap tokens by their (public) ids. A token that does not exist is no error. */
export async function deleteTokens(control: Remote<'sh'>, inventory: Inventory, ids: readonly string[]): Promise<void> {
  const secrets = ids.map((id) => `bootstrap-token-${id}`);
  const tool = kubectl(inventory, control.host as LinuxHost);
  await control.run(sh`${tool} -n kube-system delete secret --ignore-not-found ${secrets}`);
}

/**
 * Creates a bootstrap token on the acting control plane for one host, calls `use` with it, and deletes it afterwards,
 * also after a failure. A later run recognizes the token of an interrupted run by its description and deletes it.
 */
export async function withJoinToken<T>(
  control: Remote<'sh'>,
  inventory: Inventory,
  joining: string,
  use: (token: Secret) => Promise<T>,
): Promise<T> {
  const description = `${TOKEN_DESCRIPTION} join ${joining}`;
  const printed = await control.reveal(
    sh`kubeadm token create --kubeconfig /etc/kubernetes/admin.conf --ttl ${TTL} --description ${description}`,
  );
  const found = TOKEN.exec(revealed(printed));
  if (found === null) throw new Error('kubeadm printed no token');
  try {
    return await use(Secret.of(found[0]));
  } finally {
    await deleteTokens(control, inventory, [found[1]!]);
  }
}

/** A worker (Linux or Windows) and the cluster that it joins. A step's `Target` is one. */
interface Joining extends Identity {
  readonly inventory: Inventory;
  readonly fleet: Fleet;
}

/**
 * @throws Refused if the node with the host's name is Ready on another machine: this host's join must not delete it.
 */
export function refuseElsewhere(joining: Identity & { readonly fleet: Fleet }): void {
  const elsewhere = nodeElsewhere(joining, joining.fleet);
  if (elsewhere !== undefined) throw new Refused('node-elsewhere', joining.host.name, elsewhere);
}

/** The summary of a worker's join, with what kbuild found of an earlier join. @throws Refused like `refuseElsewhere` */
export function workerJoinText(joining: Joining): string {
  refuseElsewhere(joining);
  const { inventory, host } = joining;
  const { cluster } = joining.fleet;
  const stale = cluster.state === 'up' && cluster.nodes.some(({ name }) => name === host.name);
  return `join ${host.name} to ${inventory.endpoint} as a worker${stale ? ' (found a stale node of that name)' : ''}`;
}

/**
 * Prepares the cluster for a worker's join and calls `join` with a bootstrap token, which is deleted afterwards, and
 * the CA's hash. @throws like `liveCluster` and `withJoinToken`
 */
export async function withWorkerJoin(
  { inventory, host, fleet }: Joining,
  on: On,
  join: (discovery: { readonly token: Secret; readonly caHash: string }) => Promise<void>,
): Promise<void> {
  const { caFingerprint, nodes } = liveCluster(fleet);
  const control = acting(fleet);
  // The host was reinstalled: kubeadm refuses to join while a node of its name is Ready.
  if (nodes.some(({ name }) => name === host.name))
    await on(control).run(sh`${kubectl(inventory, control)} delete node --ignore-not-found ${host.name}`);
  await withJoinToken(on(control), inventory, host.name, (token) => join({ token, caHash: caFingerprint }));
}
