import { parse } from 'yaml';
import type { JsonObject } from '../../inventory/inventory.ts';
import { sh } from '../../shell/sh.ts';
import { kubeletFlagsOf } from '../kubelet-flags.ts';
import { probe } from '../probe.ts';

/** The kubelet's configuration file as kubeadm wrote it; `absent` on a host that has not joined. */
export const kubeletConfig = probe(
  sh`if [ -e /var/lib/kubelet/config.yaml ]; then cat /var/lib/kubelet/config.yaml; else echo absent; fi`,
  (out): JsonObject | 'absent' => (out.trim() === 'absent' ? 'absent' : (parse(out) as JsonObject)),
);

/** The kubelet's arguments that kubeadm wrote (`--name=value`); `absent` on a host that has not joined. */
export const kubeletFlags = probe(
  sh`if [ -e /var/lib/kubelet/kubeadm-flags.env ]; then cat /var/lib/kubelet/kubeadm-flags.env; else echo absent; fi`,
  kubeletFlagsOf,
);
