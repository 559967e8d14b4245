import { parse } from 'yaml';
import { sh } from '../../shell/sh.ts';
import { using } from '../../templates.ts';
import { kubeletFlagsOf } from '../kubelet-flags.ts';
import { objectOf, type JsonObject } from '../../shell/decode.ts';
import { lines, probe } from '../../shell/probe.ts';
import { textOf } from './files.ts';

/** The kubelet's configuration file as kubeadm wrote it; `absent` on a host that has not joined. */
export const kubeletConfig = textOf('/var/lib/kubelet/config.yaml', (text): JsonObject | 'absent' =>
  text === 'absent' ? 'absent' : objectOf(parse(text)),
);

/** The kubelet's arguments that kubeadm wrote (`--name=value`); `absent` on a host that has not joined. */
export const kubeletFlags = textOf('/var/lib/kubelet/kubeadm-flags.env', kubeletFlagsOf);

/**
 * The CRI endpoint that the host's kubelet was given; empty before it was given
 * any. Where several files name one, the kubelet's own order decides: the flag, then kubeadm's file of the host.
 */
export const kubeletRuntime = probe(
  using('linux/serving-runtime.sh', sh`echo "$runtime_given"`),
  (out): string => lines(out)[0] ?? '',
);

/** Arguments of the kubelet in the administrator's file, which the kubelet's unit reads last: they win. */
export interface KubeletOverride {
  /** The file, e.g. /etc/default/kubelet. */
  readonly file: string;
  /** `KUBELET_EXTRA_ARGS`, or another variable of the package's unit. */
  readonly variable: string;
  /** Names of the flags, without their values. */
  readonly flags: readonly string[];
}

/** The arguments that this file gives the kubelet; nothing else of the file is read. */
export const kubeletOverrides = (file: string) =>
  probe(
    sh`if [ -e ${file} ]; then grep -E '^[[:space:]]*KUBELET_[A-Z]+_ARGS=' ${file} || true; fi`,
    (out): readonly KubeletOverride[] =>
      lines(out).flatMap((line) => {
        const [, variable = '', value = ''] = /^\s*(KUBELET_[A-Z]+_ARGS)=(.*)$/.exec(line) ?? [];
        const flags = [...value.matchAll(/(?:^|[\s"'])(--?[\w-]+)/g)].map(([, flag]) => flag!);
        return flags.length === 0 ? [] : [{ file, variable, flags }];
      }),
  );
