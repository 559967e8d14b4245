import { expiring, expiringText, renewal, type Expiring } from '../cluster/expiry.ts';
import type { HostFinding } from './each-host.ts';
import { eachHost } from './each-host.ts';

/** Certificates that a message names; of more it gives the number. */
const NAMED = 3;

/** Days before the end at which it is an error: too few to plan the exchange of an authority. */
const ERROR_AT_DAYS = 7;

function finding(severity: HostFinding['severity'], found: readonly Expiring[]): readonly HostFinding[] {
  if (found.length === 0) return [];
  const named = found.slice(0, NAMED).map(expiringText).join(', ');
  const more = found.length > NAMED ? ` and ${String(found.length - NAMED)} more` : '';
  return [{ severity, message: `certificates run out: ${named}${more}`, remedy: renewal(found) }];
}

export const certificateExpiry = eachHost(
  {
    name: 'certificate-expiry',
    title: 'the certificates of Kubernetes on the host hold for more than 30 days',
    why: 'kubeadm makes certificates that hold for one year. When they have expired, the control plane stops, and `kubectl` is refused. `kbuild up` and `kbuild certs renew` renew them when 30 days are left (`certificates.renewBefore`), and so does an upgrade ([operations](operations.md#certificates)). The kubelet renews its client certificate by itself. Nothing renews an authority: 7 days before its end, or that of a certificate that the inventory brings, it is an error.',
    severities: ['error', 'warning', 'due'],
  },
  ({ inventory, facts }) => {
    const found = expiring(inventory, facts);
    const of = (renewer: Expiring['renewer']) => found.filter((one) => one.renewer === renewer);
    const isClose = ({ days }: Expiring): boolean => days <= ERROR_AT_DAYS;
    return [
      ...finding(
        'error',
        of('you').filter((one) => isClose(one)),
      ),
      ...finding('due', of('kbuild')),
      ...finding('warning', [...of('you').filter((one) => !isClose(one)), ...of('kubelet')]),
    ];
  },
);
