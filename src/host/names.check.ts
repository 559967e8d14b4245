import { type CheckGroup, eachHost, type HostFinding } from '../engine/check.ts';
import { HOSTS_FILE, kubeletResolvConf } from './names.facts.ts';

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
    const files = facts.lookups.get(HOSTS_FILE) ?? [];
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
      ...(files !== 'silent' && files.length > 0 && !files.some((address) => address.startsWith('127.'))
        ? [
            {
              severity: 'warning' as const,
              message: `/etc/hosts has localhost as ${files.join(', ')} alone, and programs in Go go by that file`,
              remedy: 'add to /etc/hosts: 127.0.0.1 localhost',
            },
          ]
        : []),
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
    // Another check tells of a file that is not there, or is turned off.
    if (resolver.ofKubelet === undefined && host.kubelet.config['resolvConf'] !== undefined) return [];
    const own = resolver.upstream === 'absent' ? resolver.nameservers : resolver.upstream;
    const handedOn = resolver.ofKubelet === 'missing' ? [] : (resolver.ofKubelet ?? own);
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

const resolvConf = eachHost(
  {
    name: 'resolv-conf',
    title: 'the file of `kubelet.config.resolvConf` is on the host and names a server',
    why:
      'The kubelet reads this file for every pod: without it no pod starts, also none of the control plane, and ' +
      'kubeadm waits 4 minutes in vain. `/run/systemd/resolve/resolv.conf` is there only where systemd-resolved ' +
      'runs, which differs from system to system. Leave the setting out, and kubeadm chooses the right file of ' +
      'each host; or set it for a role, a group or a host. A file of `files` in the inventory is due.',
    severities: ['due', 'error'],
  },
  ({ inventory, host, facts: { resolver } }): readonly HostFinding[] => {
    const file = kubeletResolvConf(host);
    if (resolver.ofKubelet === undefined || (host.role !== 'control-plane' && host.role !== 'worker')) return [];
    if (resolver.ofKubelet === 'missing')
      return inventory.files.some(({ path }) => path === file)
        ? [{ severity: 'due', message: `${file}, which kubelet.config.resolvConf names, is not there yet` }]
        : [
            {
              severity: 'error',
              message: `has no ${file}, which kubelet.config.resolvConf names: no pod would start`,
              remedy:
                'take kubelet.config.resolvConf out, so that kubeadm chooses for each host; or name a file that ' +
                'the host has',
            },
          ];
    return resolver.ofKubelet.length === 0
      ? [
          {
            severity: 'error',
            message: `${file}, which kubelet.config.resolvConf names, has no nameserver: CoreDNS does not start`,
            remedy: 'name a file with a nameserver, or take kubelet.config.resolvConf out',
          },
        ]
      : [];
  },
);

export const nameChecks: CheckGroup = { host: [nameserver, resolvConf, resolverLoop, localNames] };
