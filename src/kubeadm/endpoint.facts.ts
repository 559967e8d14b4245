import { isIP } from 'node:net';
import { ADMIN_CONF, endpointHost } from '../inventory/api-server.ts';
import type { Inventory, LinuxHost } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { probeInPlace } from '../shell/probe.ts';
import { script } from '../templates.ts';

/**
 * What the inventory's endpoint serves to a host whose kubeconfig names another one. `not asked`: its kubeconfig names
 * it, or there is none.
 */
export type NewEndpoint =
  | 'not asked'
  | {
      /** True if a machine of the host's network has the endpoint's address. */
      readonly isHeld: boolean;
      /** By the CA of the server: this cluster's, another one's, or not known. */
      readonly whose: 'ours' | 'other' | 'unknown';
      /** `ok`, or why not, in one line. */
      readonly answer: string;
    };

const WHOSE = ['ours', 'other'] as const;

/** Parses what the probe prints. */
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
 * The endpoint as the host's own kubeconfig would use it: with its credentials, and only if the server's certificate is
 * the cluster's.
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
