import { signingAuthority } from '../configuration/signing.ts';
import type { Seen } from './seen.ts';

const KUBELET_CONF = '/etc/kubernetes/kubelet.conf';

/** Names of the other hosts that are joined to the CA of this one: they have it, and a kubelet's kubeconfig of it. */
function joinedToItsCa({ host, facts, fleet }: Seen): readonly string[] {
  if (facts.caFingerprint === 'absent') return [];
  return fleet.hosts
    .filter((other) => other.host.name !== host.name && other.facts.caFingerprint === facts.caFingerprint)
    .filter((other) => other.facts.kubernetesTraces.has(KUBELET_CONF))
    .map((other) => other.host.name);
}

/**
 * What tells that a host with the marker of an unfinished action is not half-finished, but served before: its data is never
 * undone then. undefined: nothing tells that. While the API answers, it says itself who is in the cluster; while it does
 * not, an init that came as far as the kubelet's certificate, or to whose CA another host is joined, may have served for
 * long: a power cut can leave its marker behind.
 */
export function evidenceOfService(seen: Seen): string | undefined {
  const { inventory, host, facts, fleet } = seen;
  if (typeof facts.marker !== 'object' || facts.marker.action === 'reset' || host.role === 'etcd') return undefined;
  const { olderThanMarker, kubeletFinalized } =
    'servedBefore' in facts ? facts.servedBefore : { olderThanMarker: [], kubeletFinalized: false };
  if (olderThanMarker.length > 0) return `${olderThanMarker.join(', ')} is older than the marker`;
  if (fleet.cluster.state === 'up' || facts.marker.action !== 'init') return undefined;
  const others = joinedToItsCa(seen);
  if (others.length > 0) return `${others.join(', ')} ${others.length === 1 ? 'is' : 'are'} joined to its CA`;
  // Where an authority signs elsewhere, kbuild itself puts that certificate there before kubeadm runs.
  return kubeletFinalized && signingAuthority(inventory) === undefined
    ? 'its init came as far as the certificate that the kubelet renews'
    : undefined;
}
