import { type CheckGroup, eachHost, type HostFinding } from '../engine/check.ts';

const said = (lookup: readonly string[] | 'silent'): string =>
  lookup === 'silent' ? 'not answered within 3 s' : lookup.length === 0 ? 'unknown' : lookup.join(', ');

const localNames = eachHost(
  {
    name: 'local-names',
    title: "localhost and the host's own name resolve",
    why:
      "Programs of the control plane connect to localhost, and kubeadm warns when the host's own name is " +
      'unknown. Add them to /etc/hosts.',
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

const nameserver = eachHost(
  {
    name: 'nameserver',
    title: '/etc/resolv.conf names a server',
    why: 'CoreDNS hands on to the servers of /etc/resolv.conf what it does not know, and does not start without any.',
    severities: ['error'],
  },
  ({ facts: { resolver } }) =>
    resolver.nameservers.length === 0 || resolver.upstream.length === 0
      ? [
          {
            severity: 'error',
            message:
              `${resolver.nameservers.length === 0 ? '/etc/resolv.conf' : 'systemd-resolved'} names no server, ` +
              'and CoreDNS does not start without',
            remedy: 'add a nameserver',
          },
        ]
      : [],
);

const resolverLoop = eachHost(
  {
    name: 'resolver-loop',
    title: 'pods do not inherit a name server on the loopback interface',
    why:
      "CoreDNS takes over the host's servers. One at 127.0.0.0/8 is CoreDNS itself there, and it stops with " +
      '"Loop … detected". kubeadm knows systemd-resolved\'s stub; for any other local server name a file with ' +
      'real ones in `kubelet.config.resolvConf`.',
    severities: ['error'],
  },
  ({ host, facts: { resolver } }) => {
    if (host.kubelet.config['resolvConf'] !== undefined) return [];
    const handedOn = resolver.upstream === 'absent' ? resolver.nameservers : resolver.upstream;
    const local = handedOn.filter((address) => address.startsWith('127.') || address === '::1');
    if (local.length === 0) return [];
    return [
      {
        severity: 'error',
        message: `its name server is ${local.join(', ')}, which would be CoreDNS itself inside a pod`,
        remedy: 'write a file with the real servers and name it in kubelet.config.resolvConf',
      },
    ];
  },
);

export const nameChecks: CheckGroup = { host: [nameserver, resolverLoop, localNames] };
