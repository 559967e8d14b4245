import type { Inventory, LinuxHost } from '../model/inventory.ts';
import type { Remote } from '../remote/remote.ts';
import { revealed, Secret } from '../shell/secret.ts';
import { sh } from '../shell/sh.ts';
import { TOKEN_DESCRIPTION } from './kubeadm-config.ts';
import { kubectl } from './kubectl.ts';

/** How long a token lives when nobody deletes it: longer than any join. */
const TTL = '30m';

/** A bootstrap token as kubeadm prints it. */
const TOKEN = /^([a-z0-9]{6})\.[a-z0-9]{16}$/m;

/** Removes bootstrap tokens by their (public) ids, whoever minted them. A token that is gone already is fine. */
export async function deleteTokens(control: Remote<'sh'>, inventory: Inventory, ids: readonly string[]): Promise<void> {
  const secrets = ids.map((id) => `bootstrap-token-${id}`);
  const tool = kubectl(inventory, control.host as LinuxHost);
  await control.run(sh`${tool} -n kube-system delete secret --ignore-not-found ${secrets}`);
}

/**
 * Mints a bootstrap token on the acting control plane for one host, lends it to `use`, and deletes it afterwards, also
 * after a failure. What an interrupted run leaves is known by its description and deleted by a later run.
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
