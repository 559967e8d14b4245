/** A kubelet's request for its next client certificate, as the API shows it. */
export interface KubeletRequest {
  /** Of the CertificateSigningRequest. */
  readonly name: string;
  readonly uid: string;
  /** The node whose kubelet made the request. */
  readonly node: string;
  /** PKCS#10, PEM. */
  readonly request: string;
}

interface RawRequest {
  readonly metadata: { readonly name: string; readonly uid: string; readonly creationTimestamp: string };
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

const SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
const NODE_USER = 'system:node:';
const NODE_GROUP = 'system:nodes';

/** What Kubernetes' own signer would allow (pkg/apis/certificates/helpers.go). */
const USAGES: readonly string[] = ['client auth,digital signature', 'client auth,digital signature,key encipherment'];

/** True for a request that a node's kubelet made for itself, and that the cluster approved. */
function isKubelets({ spec, status }: RawRequest): boolean {
  const is = (type: string) => status?.conditions?.some((one) => one.type === type && one.status !== 'False') === true;
  return (
    spec.signerName === SIGNER &&
    spec.username?.startsWith(NODE_USER) === true &&
    spec.groups?.includes(NODE_GROUP) === true &&
    USAGES.includes([...(spec.usages ?? [])].sort().join(',')) &&
    is('Approved') &&
    !is('Denied') &&
    !is('Failed')
  );
}

/**
 * The requests of kubelets that wait for a certificate, from a CertificateSigningRequestList. Of each node only the newest
 * request counts: a kubelet gives one up after 15 minutes and makes another.
 */
export function parseKubeletRequests(out: string): readonly KubeletRequest[] {
  const { items } = JSON.parse(out) as { readonly items: readonly RawRequest[] };
  const newest = new Map<string, RawRequest>();
  for (const item of items.filter(isKubelets)) {
    const node = item.spec.username!.slice(NODE_USER.length);
    const other = newest.get(node);
    if (other === undefined || other.metadata.creationTimestamp < item.metadata.creationTimestamp)
      newest.set(node, item);
  }
  return [...newest]
    .filter(([, { status }]) => (status?.certificate ?? '') === '')
    .map(([node, { metadata, spec }]) => ({
      name: metadata.name,
      uid: metadata.uid,
      node,
      request: Buffer.from(spec.request, 'base64').toString('utf8'),
    }));
}
