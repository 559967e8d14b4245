import { X509Certificate } from 'node:crypto';
import { parse } from 'yaml';
import { textOf } from '../host/files.facts.ts';
import { type JsonObject, objectOf } from '../shell/decode.ts';
import { lines, probeInPlace } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { script, using } from '../templates.ts';

/** The arguments in kubeadm-flags.env (`--name=value`), which may be empty; `absent`. Throws on another form. */
export function kubeletFlagsOf(text: string): readonly string[] | 'absent' {
  if (text.trim() === 'absent') return 'absent';
  const [, flags] = /^KUBELET_KUBEADM_ARGS="?(.*?)"?\r?$/m.exec(text) ?? [];
  if (flags === undefined) throw new Error('no KUBELET_KUBEADM_ARGS in kubeadm-flags.env');
  return flags.split(/\s+/).filter((flag) => flag !== '');
}

/** The common name that the API server's node authorizer requires in a kubelet's certificate: `system:node:NAME`. */
const NODE_USER = /^CN=system:node:(.+)$/m;

/**
 * The node as which the host's kubelet authenticates, from its client certificate. `absent` on a host without the
 * kubelet's kubeconfig, `unreadable` if the certificate is missing, damaged or not a node's.
 */
export type KubeletClient = { readonly node: string } | 'absent' | 'unreadable';

function nodeIn(pem: string | Buffer): KubeletClient {
  try {
    const [, node] = NODE_USER.exec(new X509Certificate(pem).subject) ?? [];
    return node === undefined ? 'unreadable' : { node };
  } catch {
    return 'unreadable';
  }
}

/** See `KubeletClient`. Only the public part is read. */
export const kubeletClient = probeInPlace(script('kubeadm/probe-kubelet-client.sh'), (out): KubeletClient => {
  const [kind = '', ...rest] = out.trim().split('\n');
  if (kind === '') return 'absent';
  const text = rest.join('\n');
  return nodeIn(kind === 'data' ? Buffer.from(text, 'base64') : text);
});

/** The kubelet's configuration file as kubeadm wrote it; `absent` on a host that has not joined. */
export const kubeletConfig = textOf('/var/lib/kubelet/config.yaml', (text): JsonObject | 'absent' =>
  text === 'absent' ? 'absent' : objectOf(parse(text)),
);

/** The kubelet's arguments that kubeadm wrote (`--name=value`); `absent` on a host that has not joined. */
export const kubeletFlags = textOf('/var/lib/kubelet/kubeadm-flags.env', kubeletFlagsOf);

/**
 * The CRI endpoint that the host's kubelet uses; empty if no file names one. If several files name one, the kubelet's
 * own order decides: the flag, then kubeadm's file of the host.
 */
export const kubeletRuntime = probeInPlace(
  using('runtime/serving-runtime.sh', sh`echo "$runtime_given"`),
  (out): string => lines(out)[0] ?? '',
);

/**
 * Arguments of the kubelet in the administrator's file, which the kubelet's unit reads last: they override all others.
 */
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
  probeInPlace(
    sh`if [ -e ${file} ]; then while read -r line || [ -n "$line" ]; do case $line in KUBELET_*_ARGS=*) printf '%s\n' "$line" ;; esac; done <${file}; fi`,
    (out): readonly KubeletOverride[] =>
      lines(out).flatMap((line) => {
        const [, variable = '', value = ''] = /^\s*(KUBELET_[A-Z]+_ARGS)=(.*)$/.exec(line) ?? [];
        const flags = [...value.matchAll(/(?:^|[\s"'])(--?[\w-]+)/g)].map(([, flag]) => flag!);
        return flags.length === 0 ? [] : [{ file, variable, flags }];
      }),
  );
