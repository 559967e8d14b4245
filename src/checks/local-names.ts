import type { HostFinding } from './each-host.ts';
import { eachHost } from './each-host.ts';

const said = (lookup: readonly string[] | 'silent'): string =>
  lookup === 'silent' ? 'not answered within 3 s' : lookup.length === 0 ? 'unknown' : lookup.join(', ');

export const localNames = eachHost(
  {
    name: 'local-names',
    title: "localhost and the host's own name resolve",
    why: "Programs of the control plane connect to localhost, and kubeadm warns when the host's own name is unknown. Add them to /etc/hosts.",
    severities: ['error', 'warning'],
  },
  ({ facts }): readonly HostFinding[] => {
    const local = facts.lookups.get('localhost') ?? [];
    const own = facts.lookups.get('own') ?? [];
    return [
      ...(local !== 'silent' && local.includes('127.0.0.1')
        ? []
        : [
            {
              severity: 'error' as const,
              message: `localhost is ${said(local)}, not 127.0.0.1`,
              remedy: 'add to /etc/hosts: 127.0.0.1 localhost',
            },
          ]),
      ...(own !== 'silent' && own.length > 0
        ? []
        : [
            {
              severity: 'warning' as const,
              message: `its own name ${facts.hostname} is ${said(own)}`,
              remedy: `add to /etc/hosts: 127.0.1.1 ${facts.hostname}`,
            },
          ]),
    ];
  },
);
