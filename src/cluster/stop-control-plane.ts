import { withRuntime } from '../components/runtimes/index.ts';
import type { Inventory } from '../model/inventory.ts';
import { paths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import { script } from '../templates.ts';

/** The static pods of a control plane that write to etcd. */
const WRITERS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/** Stops a control plane whose init did not finish, for good: deletes its manifests. Its etcd member stays. */
export const stopControlPlane = (inventory: Inventory): Command<'sh'> =>
  withRuntime(inventory, script('linux/stop-control-plane.sh', { NAMES: WRITERS, ASIDE: '' }));

/** Stops a control plane and its etcd member: moves their manifests to `paths.restoreAside`. */
export const putControlPlaneAside = (inventory: Inventory): Command<'sh'> =>
  withRuntime(
    inventory,
    script('linux/stop-control-plane.sh', { NAMES: [...WRITERS, 'etcd'], ASIDE: paths.restoreAside }),
  );
