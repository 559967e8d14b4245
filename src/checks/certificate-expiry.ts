import { expiring, expiringText, renewal } from '../cluster/expiry.ts';
import { eachHost } from './each-host.ts';

/** Certificates that a message names; of more it gives the number. */
const NAMED = 3;

export const certificateExpiry = eachHost(
  {
    name: 'certificate-expiry',
    title: 'the certificates of Kubernetes on the host hold for more than 30 days',
    why: 'kubeadm makes certificates that hold for one year. When they have expired, the control plane stops, and `kubectl` is refused. Only an upgrade renews them by itself. Renew them with `kubeadm certs renew all` on each control plane and restart its static pods, one control plane after the other ([operations](operations.md#certificates)). The client certificate of the kubelet is renewed by the kubelet.',
    severities: ['warning'],
  },
  ({ inventory, facts }) => {
    const found = expiring(facts);
    if (found.length === 0) return [];
    const named = found.slice(0, NAMED).map(expiringText).join(', ');
    const more = found.length > NAMED ? ` and ${String(found.length - NAMED)} more` : '';
    return [
      { severity: 'warning', message: `certificates run out: ${named}${more}`, remedy: renewal(inventory, found) },
    ];
  },
);
