import { signingAuthority } from '../configuration/signing.ts';
import type { Seen } from './seen.ts';
import { casOf, shareCa } from './trusted-cas.ts';

const KUBELET_CONF = '/etc/kubernetes/kubelet.conf';

/** What is left where an init came to its last phases: only the API tells whether it ended. */
const LATE_INIT = 'its init came as far as the certificate that the kubelet renews';

/** Names of the other hosts that have this host's CA and a kubelet's kubeconfig. */
function joinedToItsCa({ host, facts, fleet }: Seen): readonly string[] {
  if (facts.caFingerprint === 'absent') return [];
  return fleet.hosts
    .filter((other) => other.host.name !== host.name && shareCa(casOf(other.facts), casOf(facts)))
    .filter((other) => other.facts.kubernetesTraces.has(KUBELET_CONF))
    .map((other) => other.host.name);
}

/**
 * Why kbuild takes a host with the marker of an unfinished action for one that served before: its data must not be
 * undone. undefined: no evidence.
 * While the API answers, the API's list of members decides. While it does not answer, an init that reached the
 * kubelet's certificate may have served for long, and so may a host to whose CA another host is joined: a power cut can
 * leave the marker behind.
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
  // If a signing command signs, kbuild itself puts that certificate there before kubeadm runs.
  return kubeletFinalized && signingAuthority(inventory) === undefined ? LATE_INIT : undefined;
}

/**
 * True for a host whose init may have been cut off in its last phases, after those by which kbuild takes it for one that served: until the API
 * answers, it counts as joined, and may lack kube-proxy and CoreDNS.
 */
export const mayLackAddons = (seen: Seen): boolean => evidenceOfService(seen) === LATE_INIT;
