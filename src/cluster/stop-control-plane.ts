import type { Command } from '../shell/command.ts';
import { script } from '../templates.ts';

/** The static pods of a control plane that write into etcd. */
const WRITERS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

/** Ends a control plane whose init was not finished, for good: its manifests go. A member of etcd stays. */
export const stopControlPlane = (): Command<'sh'> =>
  script('linux/stop-control-plane.sh', { NAMES: WRITERS, ASIDE: '' });

/** Stops a control plane and its member of etcd; their manifests wait in the folder `aside`. */
export const putControlPlaneAside = (aside: string): Command<'sh'> =>
  script('linux/stop-control-plane.sh', { NAMES: [...WRITERS, 'etcd'], ASIDE: aside });
