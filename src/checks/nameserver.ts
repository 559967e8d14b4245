import { eachHost } from './each-host.ts';

export const nameserver = eachHost(
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
            message: `${resolver.nameservers.length === 0 ? '/etc/resolv.conf' : 'systemd-resolved'} names no server, and CoreDNS does not start without`,
            remedy: 'add a nameserver',
          },
        ]
      : [],
);
