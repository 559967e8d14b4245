import { parse } from 'yaml';
import type { JsonObject } from '../../inventory/inventory.ts';
import { sh } from '../../shell/sh.ts';
import { probe } from '../probe.ts';

/** The kubelet's configuration file as kubeadm wrote it; `absent` on a host that has not joined. */
export const kubeletConfig = probe(
  sh`if [ -e /var/lib/kubelet/config.yaml ]; then cat /var/lib/kubelet/config.yaml; else echo absent; fi`,
  (out): JsonObject | 'absent' => (out.trim() === 'absent' ? 'absent' : (parse(out) as JsonObject)),
);

/** The kubelet's arguments that kubeadm wrote (`--name=value`); `absent` on a host that has not joined. */
export const kubeletFlags = probe(
  sh`if [ -e /var/lib/kubelet/kubeadm-flags.env ]; then cat /var/lib/kubelet/kubeadm-flags.env; else echo absent; fi`,
  (out): readonly string[] | 'absent' => {
    if (out.trim() === 'absent') return 'absent';
    const [, flags] = /^KUBELET_KUBEADM_ARGS="?(.*?)"?$/m.exec(out) ?? [];
    if (flags === undefined) throw new Error('no KUBELET_KUBEADM_ARGS in kubeadm-flags.env');
    return flags.split(/\s+/).filter((flag) => flag !== '');
  },
);
