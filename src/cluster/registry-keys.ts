import { withEtcd } from '../facts/etcd-view.ts';
import type { Inventory, LinuxHost } from '../model/inventory.ts';
import type { On } from '../remote/remote.ts';
import { sh } from '../shell/sh.ts';
import { stopControlPlane } from './stop-control-plane.ts';

/**
 * Deletes the keys that an unfinished init wrote into an external etcd, through the host of a member. Stops the control
 * plane that wrote them first, so that it does not write them again.
 */
export async function forgetKeys(on: On, inventory: Inventory, founder: LinuxHost, through: LinuxHost): Promise<void> {
  await on(founder).job('stop-control-plane', stopControlPlane(inventory));
  await on(through).run(withEtcd(inventory, sh`e forget "$@" --command-timeout 2m del /registry/ --prefix >/dev/null`));
}
