import { withEtcd } from '../facts/etcd-view.ts';
import type { Inventory, LinuxHost } from '../model/inventory.ts';
import type { On } from '../remote/remote.ts';
import { sh } from '../shell/sh.ts';
import { stopControlPlane } from './stop-control-plane.ts';

/**
 * Takes what a half-finished init wrote into an etcd beside the control planes out again, through the host of a member.
 * The control plane that wrote it is stopped before, so that nothing writes it anew.
 */
export async function forgetKeys(on: On, inventory: Inventory, founder: LinuxHost, through: LinuxHost): Promise<void> {
  await on(founder).job('stop-control-plane', stopControlPlane(inventory));
  await on(through).run(withEtcd(inventory, sh`e forget "$@" --command-timeout 2m del /registry/ --prefix >/dev/null`));
}
