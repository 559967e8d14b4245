import { itemsOf, type JsonObject, objectsOf, textIn, textsIn, within } from '../shell/decode.ts';

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
