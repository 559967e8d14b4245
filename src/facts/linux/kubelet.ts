import { parse } from 'yaml';
import type { JsonObject } from '../../model/inventory.ts';
import { paths } from '../../paths.ts';
import { sh } from '../../shell/sh.ts';
import { kubeletFlagsOf } from '../kubelet-flags.ts';
import { lines, probe } from '../../shell/probe.ts';

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

/** Arguments of the kubelet in its file of the system's administrator, which are read last and so win. */
export interface KubeletOverride {
  /** `KUBELET_EXTRA_ARGS`, or one of those that the package's unit has beside it. */
  readonly variable: string;
  /** Names of the flags, without their values. */
  readonly flags: readonly string[];
}

/** What /etc/default/kubelet gives the kubelet; nothing else of the file is read. */
export const kubeletOverrides = probe(
  sh`if [ -e ${paths.kubeletExtraArgs} ]; then grep -E '^[[:space:]]*KUBELET_[A-Z]+_ARGS=' ${paths.kubeletExtraArgs} || true; fi`,
  (out): readonly KubeletOverride[] =>
    lines(out).flatMap((line) => {
      const [, variable = '', value = ''] = /^\s*(KUBELET_[A-Z]+_ARGS)=(.*)$/.exec(line) ?? [];
      const flags = [...value.matchAll(/(?:^|[\s"'])(--?[\w-]+)/g)].map(([, flag]) => flag!);
      return flags.length === 0 ? [] : [{ variable, flags }];
    }),
);
