/** A kubelet's request for a certificate of its own, as the API shows it. */
export interface KubeletRequest {
  /** `client`: what the kubelet shows to API servers. `server`: what it shows to those who connect to its port. */
  readonly profile: 'client' | 'server';
  /** Of the CertificateSigningRequest. */
  readonly name: string;
  readonly uid: string;
  /** An update that names it fails if the request has changed. */
  readonly resourceVersion: string;
  /** Kubernetes approves requests for client certificates itself, and those for serving certificates never. */
  readonly approved: boolean;
  /** The node whose kubelet made the request. */
  readonly node: string;
  /** PKCS#10, PEM. */
  readonly request: string;
}

interface RawRequest {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
  };
  readonly spec: {
    readonly signerName: string;
    readonly username?: string;
    readonly groups?: readonly string[];
    readonly usages?: readonly string[];
    readonly request: string;
  };
  readonly status?: {
    readonly certificate?: string;
    readonly conditions?: readonly { readonly type: string; readonly status?: string }[];
  };
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

const has = ({ status }: RawRequest, type: string): boolean =>
  status?.conditions?.some((one) => one.type === type && one.status !== 'False') === true;

/** True for a request that a node's kubelet made for itself. */
const isKubelets = ({ spec }: RawRequest): boolean =>
  spec.username?.startsWith(NODE_USER) === true &&
  spec.groups?.includes(NODE_GROUP) === true &&
  SIGNERS[spec.signerName] !== undefined &&
  allows(SIGNERS[spec.signerName]!.usage, spec.usages);

/** A client certificate waits for its signer only: Kubernetes has approved it, or never will. */
const waits = (raw: RawRequest): boolean =>
  !has(raw, 'Denied') &&
  !has(raw, 'Failed') &&
  (SIGNERS[raw.spec.signerName]!.profile === 'server' || has(raw, 'Approved'));

const requestOf = (raw: RawRequest): KubeletRequest => {
  const { metadata, spec } = raw;
  return {
    profile: SIGNERS[spec.signerName]!.profile,
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    approved: has(raw, 'Approved'),
    node: spec.username!.slice(NODE_USER.length),
    request: Buffer.from(spec.request, 'base64').toString('utf8'),
  };
};

/**
 * The requests of kubelets that wait for a certificate, from a CertificateSigningRequestList. Of each node and profile only the
 * newest request counts: a kubelet gives one up after 15 minutes and makes another.
 */
export function parseKubeletRequests(out: string): readonly KubeletRequest[] {
  const { items } = JSON.parse(out) as { readonly items: readonly RawRequest[] };
  const newest = new Map<string, RawRequest>();
  for (const item of items.filter((one) => isKubelets(one) && waits(one))) {
    const key = `${item.spec.signerName} ${item.spec.username!}`;
    const other = newest.get(key);
    if (other === undefined || other.metadata.creationTimestamp < item.metadata.creationTimestamp)
      newest.set(key, item);
  }
  return [...newest.values()].filter(({ status }) => (status?.certificate ?? '') === '').map(requestOf);
}
