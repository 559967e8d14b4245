import { endpointHost, isIP } from '../inventory/addresses.ts';
import { ADMIN_CONF } from '../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { probeInPlace } from '../shell/probe.ts';
import { script } from '../templates.ts';

/**
 * The answer of the inventory's endpoint to a host whose kubeconfig names another endpoint. `not asked`: the host's
 * kubeconfig names the inventory's endpoint, or the host has no kubeconfig.
 */
export type NewEndpoint =
  | 'not asked'
  | {
      /** True if a machine of the host's network has the endpoint's address. */
      readonly isHeld: boolean;
      /** The cluster whose CA signed the server's certificate: this one, another one, or unknown. */
      readonly whose: 'ours' | 'other' | 'unknown';
      /** `ok`, or the reason of the failure in one line. */
      readonly answer: string;
    };

const WHOSE = ['ours', 'other'] as const;

/** Parses the output of the probe. */
export function parseNewEndpoint(out: string): NewEndpoint {
  const [held = '', whose = '', ...answer] = out.trim().split('\n');
  if (held === '') return 'not asked';
  const text = answer.join(' ').trim();
  return {
    isHeld: held === 'held',
    whose: WHOSE.find((one) => one === whose) ?? 'unknown',
    answer: text === '' ? 'no answer' : text,
  };
}

/**
 * Probes the endpoint as the host's own kubeconfig would use it: sends its credentials only if the server's certificate
 * belongs to the cluster.
 */
export function newEndpoint(inventory: Inventory, host: LinuxHost) {
  const { endpoint, loadBalancer } = inventory;
  const at = 'address' in loadBalancer ? loadBalancer.address : endpointHost(endpoint);
  return probeInPlace(
    script('kubeadm/probe-new-endpoint.sh', {
      ENDPOINT: endpoint,
      ADDRESS: isIP(at) === 0 ? '' : at,
      CONF: host.role === 'control-plane' ? ADMIN_CONF : '/etc/kubernetes/kubelet.conf',
      KUBECACHE: `${paths.run}/kubectl`,
    }),
    parseNewEndpoint,
  );
}
