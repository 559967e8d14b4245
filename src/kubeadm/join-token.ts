import { kubectl } from '../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { revealed, Secret } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import type { Remote } from '../ssh/remote.ts';
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
