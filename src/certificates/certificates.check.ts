import { type CheckGroup, eachHost, type HostFinding } from '../engine/check.ts';
import { docsPage } from '../versions.ts';
import { expiring, type Expiring, expiringText, renewal } from './expiry.ts';
import { lostKeys, PKI_FOLDER } from './shared-files.ts';

/** Maximum number of certificates that a message names. For more it gives the number. */
const NAMED = 3;

/**
 * From this many days before the expiry the finding is an error: they are too few to plan the replacement of an
 * authority.
 */
const ERROR_AT_DAYS = 7;

function finding(severity: HostFinding['severity'], found: readonly Expiring[]): readonly HostFinding[] {
  if (found.length === 0) return [];
  const named = found.slice(0, NAMED).map(expiringText).join(', ');
  const more = found.length > NAMED ? ` and ${String(found.length - NAMED)} more` : '';
  return [{ severity, message: `certificates run out: ${named}${more}`, remedy: renewal(found) }];
}

const certificateExpiry = eachHost(
  {
    name: 'certificate-expiry',
    title: 'the certificates of Kubernetes on the host are valid for more than 30 days',
    why:
      'kubeadm makes certificates that are valid for one year. When they have expired, the control plane stops, ' +
      'and the API rejects `kubectl`. `kbuild up` and `kbuild certs renew` renew them when 30 days are left ' +
      '(`certificates.renewBefore`), and so does an upgrade ([operations](operations.md#certificates)). The ' +
      'kubelet renews its client certificate by itself. Nothing renews an authority. From 7 days before the ' +
      'expiry of an authority, or of a certificate from the inventory, the finding is an error.',
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

const sharedKeys = eachHost(
  {
    name: 'shared-keys',
    title: 'every control plane has the keys of the authorities and of the service accounts',
    why:
      "If `ca.key`, `sa.key`, etcd's `ca.key` or `front-proxy-ca.key` is lost, the cluster runs on until it must " +
      'sign: for a join, a renewal, or the next token after a restart. `up` copies a key from another control ' +
      'plane. If none has it, take it from your backup, while the certificates that it signed are valid.',
    severities: ['due', 'warning'],
  },
  ({ inventory, host, facts, fleet }) =>
    lostKeys(inventory, fleet, { host, facts }).map(({ key, from }) =>
      from === undefined
        ? {
            severity: 'warning',
            message: `${PKI_FOLDER}/${key} is gone, and no other control plane has it: nothing can be signed with it`,
            remedy: `take it from your backup: ${docsPage('operations.md#a-key-is-lost')}`,
          }
        : {
            severity: 'due',
            message: `${PKI_FOLDER}/${key} is gone; up copies it from ${from.name}`,
          },
    ),
);

export const certificateChecks: CheckGroup = { host: [certificateExpiry, sharedKeys] };
