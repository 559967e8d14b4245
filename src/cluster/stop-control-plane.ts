import { withRuntime } from '../components/runtimes/index.ts';
import type { Inventory } from '../model/inventory.ts';
import { paths } from '../paths.ts';
import type { Command } from '../shell/command.ts';
import { script } from '../templates.ts';

/** The static pods of a control plane that write into etcd. */
const WRITERS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/** Ends a control plane whose init was not finished, for good: its manifests go. A member of etcd stays. */
export const stopControlPlane = (inventory: Inventory): Command<'sh'> =>
  withRuntime(inventory, script('linux/stop-control-plane.sh', { NAMES: WRITERS, ASIDE: '' }));

/** Stops a control plane and its member of etcd; their manifests wait in `paths.restoreAside`. */
export const putControlPlaneAside = (inventory: Inventory): Command<'sh'> =>
  withRuntime(
    inventory,
    script('linux/stop-control-plane.sh', { NAMES: [...WRITERS, 'etcd'], ASIDE: paths.restoreAside }),
  );
