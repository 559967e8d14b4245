import { lostKeys, PKI_FOLDER } from '../cluster/shared-keys.ts';
import { eachHost } from './each-host.ts';

export const sharedKeys = eachHost(
  {
    name: 'shared-keys',
    title: 'every control plane has the keys of the authorities and of the service accounts',
    why: "Nothing stops when `ca.key`, `sa.key`, etcd's `ca.key` or `front-proxy-ca.key` is lost, until something must be signed: a join, a renewal, the next token after a restart. `up` copies a key from another control plane. If none has it, take it from your backup, while the certificates that it signed are valid.",
    severities: ['due', 'warning'],
  },
  ({ inventory, host, facts, fleet }) =>
    lostKeys(inventory, fleet, { host, facts }).map(({ key, from }) =>
      from === undefined
        ? {
            severity: 'warning',
            message: `${PKI_FOLDER}/${key} is gone, and no other control plane has it: nothing can be signed with it`,
            remedy: 'take it from your backup (docs/operations.md, "A key is lost")',
          }
        : {
            severity: 'due',
            message: `${PKI_FOLDER}/${key} is gone; up copies it from ${from.name}`,
          },
    ),
);
