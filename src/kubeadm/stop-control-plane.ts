import { withEtcd } from '../etcd/view.facts.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { withRuntime } from '../runtime/runtimes.value.ts';
import type { Command } from '../shell/command.ts';
import { sh } from '../shell/sh.ts';
import type { On } from '../ssh/remote.ts';
import { script } from '../templates.ts';

/** The static pods of a control plane that write to etcd. */
const WRITERS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/** Permanently stops a control plane whose init did not finish: deletes its manifests. Its etcd member stays. */
const stopControlPlane = (inventory: Inventory, host: LinuxHost): Command<'sh'> =>
  withRuntime(inventory, host, script('kubeadm/stop-control-plane.sh', { NAMES: WRITERS, ASIDE: '' }));

/** Stops a control plane and its etcd member: moves their manifests to `paths.restoreAside`. */
export const putControlPlaneAside = (inventory: Inventory, host: LinuxHost): Command<'sh'> =>
  withRuntime(
    inventory,
    host,
    script('kubeadm/stop-control-plane.sh', { NAMES: [...WRITERS, 'etcd'], ASIDE: paths.restoreAside }),
  );

/**
 * Deletes the keys that an unfinished init wrote into an external etcd, through the host of a member. Stops the control
 * plane that wrote them first, so that it does not write them again.
 */
export async function forgetKeys(on: On, inventory: Inventory, founder: LinuxHost, through: LinuxHost): Promise<void> {
  await on(founder).job('stop-control-plane', stopControlPlane(inventory, founder));
  await on(through).run(
    withEtcd(inventory, through, sh`e forget "$@" --command-timeout 2m del /registry/ --prefix >/dev/null`),
  );
}
