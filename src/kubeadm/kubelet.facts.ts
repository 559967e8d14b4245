import { X509Certificate } from 'node:crypto';
import { parse } from 'yaml';
import { textOf } from '../host/files.facts.ts';
import { itemsOf, type JsonObject, objectOf, objectsOf, textIn, textsIn, within } from '../shell/decode.ts';
import { lines, probeInPlace } from '../shell/probe.ts';
import { sh } from '../shell/sh.ts';
import { script, using } from '../templates.ts';

/** A kubelet's request for a certificate of its own, as the API shows it. */
export interface KubeletRequest {
  /**
   * `client`: the certificate for connections to API servers. `server`: the certificate for connections to the
   * kubelet's port.
   */
  readonly profile: 'client' | 'server';
  /** Name of the CertificateSigningRequest. */
  readonly name: string;
  readonly uid: string;
  /** An update with this value fails if the request has changed. */
  readonly resourceVersion: string;
  /** Kubernetes approves requests for client certificates itself, and those for serving certificates never. */
  readonly approved: boolean;
  /** The node whose kubelet made the request. */
  readonly node: string;
  /** PKCS#10, PEM. */
  readonly request: string;
}

/** Signers, and the usages that they would allow (pkg/apis/certificates/helpers.go). */
const SIGNERS: Readonly<Record<string, { readonly profile: KubeletRequest['profile']; readonly usage: string }>> = {
  'kubernetes.io/kube-apiserver-client-kubelet': { profile: 'client', usage: 'client auth' },
  'kubernetes.io/kubelet-serving': { profile: 'server', usage: 'server auth' },
};
const NODE_USER = 'system:node:';
const NODE_GROUP = 'system:nodes';

function allows(usage: string, usages: readonly string[] = []): boolean {
  const found = [...usages].sort().join(',');
  return [['digital signature'], ['digital signature', 'key encipherment']].some(
    (others) => [...others, usage].sort().join(',') === found,
  );
}

/** A request as the API shows it. */
function rawOf(item: JsonObject) {
  const { name, uid, resourceVersion, creationTimestamp } = within(item, 'metadata');
  const { signerName, username, groups, usages, request } = within(item, 'spec');
  const { certificate, conditions } = within(item, 'status');
  const met = objectsOf(conditions).filter(({ status }) => textIn(status, '') !== 'False');
  return {
    ...{ name: textIn(name), uid: textIn(uid), resourceVersion: textIn(resourceVersion) },
    ...{ created: textIn(creationTimestamp), signer: textIn(signerName), username: textIn(username, '') },
    ...{ groups: textsIn(groups), usages: textsIn(usages), request: textIn(request) },
    hasCertificate: textIn(certificate, '') !== '',
    conditions: new Set(met.map(({ type }) => textIn(type))),
  };
}
type RawRequest = ReturnType<typeof rawOf>;

/** True for a request that a node's kubelet made for itself. */
const isKubelets = ({ username, groups, signer, usages }: RawRequest): boolean =>
  username.startsWith(NODE_USER) &&
  groups.includes(NODE_GROUP) &&
  SIGNERS[signer] !== undefined &&
  allows(SIGNERS[signer].usage, usages);

/** A request for a client certificate waits only for its signer: Kubernetes has approved it already, or never will. */
const waits = ({ signer, conditions }: RawRequest): boolean =>
  !conditions.has('Denied') &&
  !conditions.has('Failed') &&
  (SIGNERS[signer]!.profile === 'server' || conditions.has('Approved'));

const requestOf = ({
  signer,
  name,
  uid,
  resourceVersion,
  conditions,
  username,
  request,
}: RawRequest): KubeletRequest => ({
  profile: SIGNERS[signer]!.profile,
  name,
  uid,
  resourceVersion,
  approved: conditions.has('Approved'),
  node: username.slice(NODE_USER.length),
  request: Buffer.from(request, 'base64').toString('utf8'),
});

/**
 * The requests of kubelets that wait for a certificate, from a CertificateSigningRequestList. Returns only the newest
 * request of each node and profile: a kubelet abandons a request after 15 minutes and makes another. Throws on another
 * list.
 */
export function parseKubeletRequests(out: string): readonly KubeletRequest[] {
  const newest = new Map<string, RawRequest>();
  for (const item of itemsOf(out).map(rawOf)) {
    if (!isKubelets(item) || !waits(item)) continue;
    const key = `${item.signer} ${item.username}`;
    const other = newest.get(key);
    if (other === undefined || other.created < item.created) newest.set(key, item);
  }
  return [...newest.values()].filter(({ hasCertificate }) => !hasCertificate).map(requestOf);
}

/** The arguments in kubeadm-flags.env (`--name=value`), which may be empty; `absent`. Throws on another form. */
export function kubeletFlagsOf(text: string): readonly string[] | 'absent' {
  if (text.trim() === 'absent') return 'absent';
  const [, flags] = /^KUBELET_KUBEADM_ARGS="?(.*?)"?\r?$/m.exec(text) ?? [];
  if (flags === undefined) throw new Error('no KUBELET_KUBEADM_ARGS in kubeadm-flags.env');
  return flags.split(/\s+/).filter((flag) => flag !== '');
}

/** The common name that the API server's node authorizer requires in a kubelet's certificate: `system:node:NAME`. */
const NODE_SUBJECT = /^CN=system:node:(.+)$/m;

/**
 * The node as which the host's kubelet authenticates, from its client certificate. `absent` on a host without the
 * kubelet's kubeconfig, `unreadable` if the certificate is missing, damaged or not a node's.
 */
type KubeletClient = { readonly node: string } | 'absent' | 'unreadable';

function nodeIn(pem: string | Buffer): KubeletClient {
  try {
    const [, node] = NODE_SUBJECT.exec(new X509Certificate(pem).subject) ?? [];
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
interface KubeletOverride {
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
