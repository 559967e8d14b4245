import { X509Certificate } from 'node:crypto';
import { probe } from '../../shell/probe.ts';
import { script } from '../../templates.ts';

/** What the API server's node authorizer wants of a kubelet's certificate: `system:node:NAME`. */
const NODE_USER = /^CN=system:node:(.+)$/m;

/**
 * The node that the kubelet of the host is for the API, by its client certificate. `absent` on a host without the kubelet's kubeconfig,
 * `unreadable` where the certificate is missing, damaged or no node's.
 */
export type KubeletClient = { readonly node: string } | 'absent' | 'unreadable';

function nodeIn(pem: string): KubeletClient {
  try {
    const [, node] = NODE_USER.exec(new X509Certificate(pem).subject) ?? [];
    return node === undefined ? 'unreadable' : { node };
  } catch {
    return 'unreadable';
  }
}

/** See `KubeletClient`. Only the public part is read. */
export const kubeletClient = probe(script('linux/probe-kubelet-client.sh'), (out): KubeletClient =>
  out.trim() === '' ? 'absent' : nodeIn(out.trim().slice('certificate'.length).trim()),
);
