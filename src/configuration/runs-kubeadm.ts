import type { Command } from '../shell/command.ts';
import { using } from '../templates.ts';

/** A job that changes a host with kubeadm: it may use `mark`, which notes how far it came, and `run_kubeadm`. */
export const runsKubeadm = (job: Command<'sh'>): Command<'sh'> =>
  using('linux/marker.sh', using('linux/run-kubeadm.sh', job));
